import { visible } from '../../text/visible'

export interface Replacement {
  before: string
  after: string
}

/** A tool's input, sorted into what a reader needs first. Nothing of it is left out. */
export interface Presentation {
  command: string | null
  path: string | null
  content: string | null
  replacements: Replacement[]
  /** The agent's own words inside the input. */
  words: string | null
  /** Whatever no field above shows; the whole input when it has another shape. */
  rest: unknown
}

const NOTHING: Presentation = {
  command: null,
  path: null,
  content: null,
  replacements: [],
  words: null,
  rest: null,
}

export function present(toolName: string, input: unknown): Presentation {
  if (!isRecord(input)) return { ...NOTHING, rest: input }
  const rest = { ...input }
  const take = (key: string): string | null => {
    const value = rest[key]
    if (typeof value !== 'string') return null
    delete rest[key]
    return value
  }
  const found = { ...NOTHING }
  if (toolName === 'Bash') {
    found.command = take('command')
    found.words = take('description')
  } else if (toolName === 'Write') {
    found.path = take('file_path')
    found.content = take('content')
  } else if (toolName === 'Edit' || toolName === 'MultiEdit') {
    found.path = take('file_path')
    found.replacements = takeReplacements(rest)
    if (rest.replace_all === false) delete rest.replace_all
  } else {
    found.path = take('file_path') ?? take('notebook_path')
  }
  return { ...found, rest: Object.keys(rest).length > 0 ? rest : null }
}

/** The agent's own words about a call, each once. For file tools its description is only the path again. */
export function agentWords(
  toolName: string,
  input: unknown,
  ...said: readonly (string | null)[]
): string[] {
  const { words, path } = present(toolName, input)
  const all = [...said, words].filter((text) => text !== null && text.trim() !== '')
  return [...new Set(all as string[])].filter(
    (text) => path === null || !path.endsWith(text.replace(/^~\//, '')),
  )
}

function takeReplacements(rest: Record<string, unknown>): Replacement[] {
  const { old_string: before, new_string: after, edits } = rest
  if (typeof before === 'string' && typeof after === 'string') {
    delete rest.old_string
    delete rest.new_string
    return [{ before, after }]
  }
  if (Array.isArray(edits) && edits.every(isPlainEdit)) {
    delete rest.edits
    return edits.map((edit) => ({ before: edit.old_string, after: edit.new_string }))
  }
  return []
}

function isPlainEdit(edit: unknown): edit is { old_string: string; new_string: string } {
  return (
    isRecord(edit) &&
    typeof edit.old_string === 'string' &&
    typeof edit.new_string === 'string' &&
    Object.keys(edit).length === 2
  )
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** One line that says what a tool call is about, for lists and rows. */
export function summary(toolName: string, input: unknown): string {
  const { command, path, rest } = present(toolName, input)
  const lines = (command ?? path ?? firstText(rest)).trimEnd().split('\n')
  const more = lines.length - 1
  const hint = more > 0 ? ` (+${more} ${more === 1 ? 'line' : 'lines'})` : ''
  return visible(lines[0] ?? '') + hint
}

function firstText(value: unknown): string {
  if (!isRecord(value)) return ''
  const text = Object.values(value).find((item) => typeof item === 'string')
  return typeof text === 'string' ? text : ''
}
