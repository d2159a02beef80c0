import { isRecord } from '../../tool/present'

export interface FormField {
  name: string
  label: string
  description: string
  kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice'
  choices: { value: string; label: string }[]
  required: boolean
  initial: string | boolean
}

export interface Elicitation {
  message: string
  /** Set when the server asks to open a page instead of filling in a form. */
  url: string | null
  fields: FormField[]
}

export type FormValues = Record<string, string | boolean>

export function readElicitation(input: unknown): Elicitation {
  const record = isRecord(input) ? input : {}
  const schema = record.requested_schema ?? record.requestedSchema
  return {
    message: typeof record.message === 'string' ? record.message : '',
    url: typeof record.url === 'string' ? record.url : null,
    fields: isRecord(schema) ? readFields(schema, record.property_order) : [],
  }
}

function readFields(schema: Record<string, unknown>, order: unknown): FormField[] {
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const wanted = Array.isArray(order) ? order.filter((name) => typeof name === 'string') : []
  const names = [...new Set([...wanted, ...Object.keys(properties)])]
  return names
    .filter((name) => isRecord(properties[name]))
    .map((name) => readField(name, properties[name] as Record<string, unknown>, required))
}

function readField(
  name: string,
  property: Record<string, unknown>,
  required: unknown[],
): FormField {
  const kind = kindOf(property)
  const { title, description, default: initial } = property
  return {
    name,
    label: typeof title === 'string' ? title : name,
    description: typeof description === 'string' ? description : '',
    kind,
    choices: choicesOf(property),
    required: required.includes(name),
    initial: kind === 'boolean' ? initial === true : initialText(initial),
  }
}

function initialText(initial: unknown): string {
  return typeof initial === 'string' || typeof initial === 'number' ? String(initial) : ''
}

function kindOf(property: Record<string, unknown>): FormField['kind'] {
  if (Array.isArray(property.enum) || Array.isArray(property.oneOf)) return 'choice'
  const { type } = property
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : 'text'
}

/** Choices come as `enum` with optional `enumNames`, or as `oneOf` with `const` and `title`. */
function choicesOf(property: Record<string, unknown>): FormField['choices'] {
  if (Array.isArray(property.enum)) {
    const names = Array.isArray(property.enumNames) ? property.enumNames : []
    return property.enum.map((value, index) => ({
      value: String(value),
      label: String(names[index] ?? value),
    }))
  }
  if (!Array.isArray(property.oneOf)) return []
  return property.oneOf
    .filter(isRecord)
    .map((choice) => ({ value: String(choice.const), label: String(choice.title ?? choice.const) }))
}

/** The content to submit, or what is wrong, by field. Empty optional fields are left out. */
export function composeContent(
  fields: FormField[],
  values: FormValues,
): { content: Record<string, unknown> } | { problems: Record<string, string> } {
  const content: Record<string, unknown> = {}
  const problems: Record<string, string> = {}
  for (const field of fields) {
    const value = values[field.name] ?? field.initial
    if (typeof value === 'boolean') {
      content[field.name] = value
    } else if (value.trim() === '') {
      if (field.required) problems[field.name] = 'This is needed.'
    } else if (field.kind === 'number' || field.kind === 'integer') {
      const number = Number(value)
      const fits = field.kind === 'integer' ? Number.isInteger(number) : Number.isFinite(number)
      if (fits) content[field.name] = number
      else
        problems[field.name] = `This must be ${field.kind === 'integer' ? 'a whole ' : 'a '}number.`
    } else {
      content[field.name] = value
    }
  }
  return Object.keys(problems).length > 0 ? { problems } : { content }
}
