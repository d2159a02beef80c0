import { emptyRecord, own } from '../../../data/records'
import { isRecord } from '../../tool/present'

export interface FormField {
  name: string
  label: string
  description: string
  kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices'
  /** What a text must look like. */
  format: TextFormat | null
  choices: { value: string; label: string }[]
  required: boolean
  /** The limits of a number, of a text's length or of how many are chosen. */
  least: number | null
  most: number | null
  initial: FieldValue
}

export type TextFormat = 'email' | 'uri' | 'date' | 'date-time'

export type FieldValue = string | boolean | string[]

export interface Elicitation {
  message: string
  /** Set when the server asks to open a page instead of filling in a form. */
  url: string | null
  fields: FormField[]
}

export type FormValues = Record<string, FieldValue>

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
  return names.flatMap((name) => {
    const property = own(properties, name)
    return isRecord(property) ? [readField(name, property, required)] : []
  })
}

function readField(
  name: string,
  property: Record<string, unknown>,
  required: unknown[],
): FormField {
  const kind = kindOf(property)
  const { title, description, format, default: initial } = property
  const [least, most] = LIMITS[kind]
  return {
    name,
    label: typeof title === 'string' ? title : name,
    description: typeof description === 'string' ? description : '',
    kind,
    format: isFormat(format) ? format : null,
    choices: choicesOf(kind === 'choices' && isRecord(property.items) ? property.items : property),
    required: required.includes(name),
    least: numberOf(property[least]),
    most: numberOf(property[most]),
    initial: initialValue(kind, initial),
  }
}

/** Where a schema keeps the limits of each kind. */
const LIMITS: Record<FormField['kind'], [least: string, most: string]> = {
  text: ['minLength', 'maxLength'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  choices: ['minItems', 'maxItems'],
  boolean: ['', ''],
  choice: ['', ''],
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

function isFormat(value: unknown): value is TextFormat {
  return value === 'email' || value === 'uri' || value === 'date' || value === 'date-time'
}

function initialValue(kind: FormField['kind'], initial: unknown): FieldValue {
  if (kind === 'boolean') return initial === true
  if (kind === 'choices') return Array.isArray(initial) ? initial.map(String) : []
  return typeof initial === 'string' || typeof initial === 'number' ? String(initial) : ''
}

function kindOf(property: Record<string, unknown>): FormField['kind'] {
  if (isChoice(property)) return 'choice'
  const { type, items } = property
  if (type === 'array' && isRecord(items) && isChoice(items)) return 'choices'
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : 'text'
}

function isChoice(property: Record<string, unknown>): boolean {
  return [property.enum, property.oneOf, property.anyOf].some(Array.isArray)
}

/** Choices come as `enum` with optional `enumNames`, or as a list of `const` and `title`. */
function choicesOf(property: Record<string, unknown>): FormField['choices'] {
  if (Array.isArray(property.enum)) {
    const names = Array.isArray(property.enumNames) ? property.enumNames : []
    return property.enum.map((value, index) => ({
      value: String(value),
      label: String(names[index] ?? value),
    }))
  }
  const titled = property.oneOf ?? property.anyOf
  if (!Array.isArray(titled)) return []
  return titled
    .filter(isRecord)
    .map((choice) => ({ value: String(choice.const), label: String(choice.title ?? choice.const) }))
}

/** The content to submit, or what is wrong, by field. Empty optional fields are left out. */
export function composeContent(
  fields: FormField[],
  values: FormValues,
): { content: Record<string, unknown> } | { problems: Record<string, string> } {
  const content = emptyRecord<unknown>()
  const problems = emptyRecord<string>()
  for (const field of fields) {
    const value = own(values, field.name) ?? field.initial
    if (isEmpty(value)) {
      if (field.required) problems[field.name] = 'This is needed.'
      continue
    }
    const problem = problemOf(field, value)
    if (problem === null) content[field.name] = contentOf(field, value)
    else problems[field.name] = problem
  }
  return Object.keys(problems).length > 0 ? { problems } : { content }
}

function isEmpty(value: FieldValue): boolean {
  if (typeof value === 'string') return value.trim() === ''
  return Array.isArray(value) && value.length === 0
}

function contentOf({ kind, format }: FormField, value: FieldValue): unknown {
  if (kind === 'number' || kind === 'integer') return Number(value)
  // A browser's field for a date and time knows no zone: it means the reader's own.
  return format === 'date-time' ? new Date(String(value)).toISOString() : value
}

function problemOf({ kind, format, least, most }: FormField, value: FieldValue): string | null {
  if (kind === 'number' || kind === 'integer') {
    const number = Number(value)
    const fits = kind === 'integer' ? Number.isInteger(number) : Number.isFinite(number)
    if (!fits) return `This must be ${kind === 'integer' ? 'a whole ' : 'a '}number.`
    return limitProblem(number, least, most, '')
  }
  if (Array.isArray(value)) return limitProblem(value.length, least, most, ' chosen')
  if (kind !== 'text') return null
  const text = String(value)
  const misfit = format === null || FORMATS[format].fits(text) ? null : FORMATS[format].problem
  return misfit ?? limitProblem([...text].length, least, most, ' characters long')
}

function limitProblem(
  amount: number,
  least: number | null,
  most: number | null,
  unit: string,
): string | null {
  if (least !== null && amount < least) return `This must be at least ${least}${unit}.`
  return most !== null && amount > most ? `This must be at most ${most}${unit}.` : null
}

const FORMATS: Record<TextFormat, { fits: (text: string) => boolean; problem: string }> = {
  email: {
    fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
    problem: 'This must be an email address.',
  },
  uri: {
    fits: (text) => URL.canParse(text),
    problem: 'This must be an address such as https://example.org.',
  },
  date: {
    fits: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
    problem: 'This must be a date such as 2026-01-31.',
  },
  'date-time': {
    fits: (text) => !Number.isNaN(Date.parse(text)),
    problem: 'This must be a date and a time.',
  },
}
