import { own } from '../../../data/records'
import { isRecord } from '../../tool/present'
import { readEdits } from './applyEdits'

/** One text of an input that can be changed before it runs. */
export interface EditableText {
  label: string
  text: string
  /** For its colours. */
  filename: string
  /** The text that it replaces, which cannot be changed. */
  replaces: string | null
}

export interface Editable {
  texts: EditableText[]
  /** The whole input with the texts put back; throws when one of them is no valid input. */
  apply: (texts: readonly string[]) => unknown
}

type Fields = Record<string, unknown>

/** What can be changed of a tool's input: its own text where it has one, or else its JSON. */
export function editable(toolName: string, input: unknown): Editable {
  const found = isRecord(input) ? own(EDITORS, toolName)?.(input) : undefined
  return found ?? asJson(input)
}

const EDITORS: Record<string, (input: Fields) => Editable | null> = {
  Bash: (input) => field(input, 'command', 'Command to run', 'command.sh'),
  Write: (input) => field(input, 'content', 'Content to write', textOf(input.file_path)),
  Edit: (input) => editsOf('Edit', input),
  MultiEdit: (input) => editsOf('MultiEdit', input),
  NotebookEdit: (input) =>
    input.edit_mode === 'delete'
      ? null
      : field(input, 'new_source', 'New source', input.cell_type === 'markdown' ? 'a.md' : 'a.py'),
}

function field(input: Fields, key: string, label: string, filename: string): Editable | null {
  const text = input[key]
  if (typeof text !== 'string') return null
  const texts = [{ label, text, filename, replaces: null }]
  return { texts, apply: ([changed = '']) => ({ ...input, [key]: changed }) }
}

function editsOf(toolName: 'Edit' | 'MultiEdit', input: Fields): Editable | null {
  const { path, edits } = readEdits(toolName, input)
  if (edits.length === 0) return null
  const texts = edits.map(({ before, after }, index) => ({
    label: edits.length > 1 ? `New text ${index + 1} of ${edits.length}` : 'New text',
    text: after,
    filename: path ?? '',
    replaces: before,
  }))
  const changed = (raw: unknown, text: string): unknown =>
    isRecord(raw) ? { ...raw, new_string: text } : raw
  return {
    texts,
    apply: (fresh) =>
      Array.isArray(input.edits) && toolName === 'MultiEdit'
        ? { ...input, edits: input.edits.map((raw, index) => changed(raw, fresh[index] ?? '')) }
        : changed(input, fresh[0] ?? ''),
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function asJson(input: unknown): Editable {
  const text = JSON.stringify(input, null, 2) ?? ''
  const texts = [{ label: 'Input as JSON', text, filename: 'input.json', replaces: null }]
  return { texts, apply: ([changed = '']) => parseObject(changed) }
}

function parseObject(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error('This is not valid JSON.')
  }
  if (!isRecord(value)) throw new Error('The input must be a JSON object.')
  return value
}
