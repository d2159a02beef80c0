import { isRecord } from '../../tool/present'

/** A tool's input, read field by field. What no form knows is left over and shown as it is. */
export class InputFields {
  private readonly left: Record<string, unknown> | null
  private readonly input: unknown

  constructor(input: unknown) {
    this.input = input
    this.left = isRecord(input) ? { ...input } : null
  }

  text(name: string): string | null {
    return this.take(name, (value) => typeof value === 'string')
  }

  number(name: string): number | null {
    return this.take(name, (value) => typeof value === 'number')
  }

  flag(name: string): boolean | null {
    return this.take(name, (value) => typeof value === 'boolean')
  }

  texts(name: string): string[] | null {
    const isTexts = (value: unknown): value is string[] =>
      Array.isArray(value) && value.every((item) => typeof item === 'string')
    return this.take(name, isTexts)
  }

  /** Of a type the form can show; anything else is left over. */
  take<T>(name: string, isExpected: (value: unknown) => value is T): T | null {
    if (this.left === null || !Object.hasOwn(this.left, name)) return null
    const value = this.left[name]
    if (!isExpected(value)) return null
    delete this.left[name]
    return value
  }

  /** Null when the form has shown everything. */
  rest(): unknown {
    if (this.left === null) return this.input
    return Object.keys(this.left).length === 0 ? null : this.left
  }
}
