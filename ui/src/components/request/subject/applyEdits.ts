import { isRecord } from '../../tool/present'
import { InputFields } from './inputFields'

export interface TextEdit {
  before: string
  after: string
  everywhere: boolean
}

export interface EditInput {
  path: string | null
  edits: TextEdit[]
  rest: unknown
}

/** The changes of an Edit or MultiEdit; in another shape they are left over. */
export function readEdits(toolName: string, input: unknown): EditInput {
  const fields = new InputFields(input)
  const path = fields.text('file_path')
  if (toolName === 'MultiEdit') {
    const edits = fields.take('edits', isEditList)?.map(toEdit) ?? []
    return { path, edits, rest: fields.rest() }
  }
  const edit = isEdit(input) ? toEdit(input) : null
  if (edit !== null) for (const name of ['old_string', 'new_string']) fields.text(name)
  if (edit !== null) fields.flag('replace_all')
  return { path, edits: edit === null ? [] : [edit], rest: fields.rest() }
}

interface RawEdit {
  old_string: string
  new_string: string
  replace_all?: boolean
}

function toEdit(edit: RawEdit): TextEdit {
  return {
    before: edit.old_string,
    after: edit.new_string,
    everywhere: edit.replace_all === true,
  }
}

function isEdit(value: unknown): value is RawEdit & Record<string, unknown> {
  if (!isRecord(value)) return false
  const { old_string: before, new_string: after, replace_all: everywhere } = value
  const isFlag = everywhere === undefined || typeof everywhere === 'boolean'
  return typeof before === 'string' && typeof after === 'string' && isFlag
}

const EDIT_KEYS = ['old_string', 'new_string', 'replace_all']

function isEditList(value: unknown): value is RawEdit[] {
  return (
    Array.isArray(value) &&
    value.every((item) => isEdit(item) && Object.keys(item).every((key) => EDIT_KEYS.includes(key)))
  )
}

export type EditResult =
  /** `counts` says for each change how many places it changes. */
  | { kind: 'applied'; text: string; counts: number[] }
  /** The change at `index` does not fit: its text is there `count` times. */
  | { kind: 'absent' | 'ambiguous' | 'occupied'; index: number; count: number }

/** The text as it will be, each change made in the text that the one before it left. */
export function applyEdits(text: string, edits: readonly TextEdit[]): EditResult {
  const counts: number[] = []
  let current = text
  for (const [index, { before, after, everywhere }] of edits.entries()) {
    if (before === '') {
      // Without a text to replace, a file is created.
      if (current !== '') return { kind: 'occupied', index, count: 0 }
      current = after
      counts.push(1)
      continue
    }
    const parts = current.split(before)
    const count = parts.length - 1
    if (count === 0) return { kind: 'absent', index, count }
    if (count > 1 && !everywhere) return { kind: 'ambiguous', index, count }
    current = parts.join(after)
    counts.push(count)
  }
  return { kind: 'applied', text: current, counts }
}
