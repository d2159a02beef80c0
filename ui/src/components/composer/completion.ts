import type { CommandInfo } from '../../protocol.gen'

/** The word at the caret that can be completed. */
export interface Trigger {
  kind: 'file' | 'command'
  /** Where the word begins, with its `@` or `/`. */
  start: number
  /** Where it ends: everything up to here is replaced. */
  end: number
  /** What was typed of it so far. */
  query: string
}

/** What a completion offers, in the form that a list shows. */
export interface Option {
  key: string
  /** What stands in the text afterwards. */
  insert: string
  label: string
  /** Beside the label, quietly. */
  detail: string
  /** Below or behind: what it does. */
  description: string
  icon: 'file' | 'folder' | null
}

const FILE_WORD = /(?:^|[\s(])@([^\s@"]*)$/
const COMMAND_WORD = /^\/(\S*)$/

export function findTrigger(text: string, caret: number): Trigger | null {
  const before = text.slice(0, caret)
  const rest = /^\S*/.exec(text.slice(caret))?.[0].length ?? 0
  const command = COMMAND_WORD.exec(before)?.[1]
  if (command !== undefined) return { kind: 'command', start: 0, end: caret + rest, query: command }
  const query = FILE_WORD.exec(before)?.[1]
  if (query === undefined) return null
  return { kind: 'file', start: caret - query.length - 1, end: caret + rest, query }
}

/** A path with spaces stands in quotes. A folder is left open, to go on into it. */
export function fileOption(path: string): Option {
  const isFolder = path.endsWith('/')
  const trimmed = isFolder ? path.slice(0, -1) : path
  const slash = trimmed.lastIndexOf('/')
  const word = /\s/.test(path) ? `@"${path}" ` : `@${path}${isFolder ? '' : ' '}`
  return {
    key: path,
    insert: word,
    label: path.slice(slash + 1),
    detail: slash < 0 ? '' : trimmed.slice(0, slash),
    description: '',
    icon: isFolder ? 'folder' : 'file',
  }
}

export function commandOption({ name, description, argument_hint }: CommandInfo): Option {
  return {
    key: name,
    insert: `/${name} `,
    label: `/${name}`,
    detail: argument_hint,
    description,
    icon: null,
  }
}

/** Commands that begin with what was typed come first, then those that contain it. */
export function matchCommands(commands: readonly CommandInfo[], query: string): CommandInfo[] {
  const wanted = query.toLowerCase()
  const ranked = commands.map((command) => ({ command, rank: rank(command, wanted) }))
  return ranked
    .filter(({ rank }) => rank < Infinity)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ command }) => command)
}

function rank({ name }: CommandInfo, wanted: string): number {
  const lower = name.toLowerCase()
  if (lower.startsWith(wanted)) return 0
  if (lower.split(/[:_-]/).some((part) => part.startsWith(wanted))) return 1
  return lower.includes(wanted) ? 2 : Infinity
}

/** What was typed is already all of it: Enter then sends instead of completing. */
export function isComplete({ kind, query }: Trigger, option: Option): boolean {
  return kind === 'command' ? option.key === query : option.key.replace(/\/$/, '') === query
}
