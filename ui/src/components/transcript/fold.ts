import type { PlainRow, Row, ToolRow } from '../../data/arrange'
import type { LiveBlock } from '../../data/live'
import { countText } from '../../text/amounts'
import { isRecord } from '../tool/present'

/** Many calls in a row that only looked at something, as one line. */
export interface RunItem {
  type: 'run'
  seq: number
  rows: readonly ToolRow[]
}

/** One failure of the model's service, however often it was tried. */
export interface RetriesItem {
  type: 'retries'
  seq: number
  rows: readonly PlainRow[]
}

export type Item = Row | RunItem | RetriesItem

/** Something that is still being written. */
export interface LiveItem {
  type: 'live'
  block: LiveBlock
}

export type Gap = 'none' | 'close' | 'wide'

const READERS = new Set(['Read', 'NotebookRead'])
const SEARCHERS = new Set(['Grep', 'Glob'])
const LISTERS = new Set(['LS'])

/** So many of them still read well one by one. */
const LONGEST_RUN = 6

/** How the server words a retry of the model's service. */
const RETRY = /\bTry (\d+) of (\d+)\b/

/**
 * Folds rows into items. Rows that stay alone are their own items, and a fold
 * whose rows are the same stays the same object.
 */
export class Folder {
  private folds = new Map<number, RunItem | RetriesItem>()

  fold(rows: readonly Row[]): Item[] {
    const items: Item[] = []
    const folds = new Map<number, RunItem | RetriesItem>()
    const keep = (item: RunItem | RetriesItem): void => {
      const before = this.folds.get(item.seq)
      const same = before !== undefined && isSame(before.rows, item.rows)
      folds.set(item.seq, same ? before : item)
      items.push(same ? before : item)
    }
    for (let index = 0; index < rows.length;) {
      const row = rows[index]
      if (row === undefined) break
      if (isQuietLook(row)) {
        const looks = takeWhile(rows, index, isQuietLook)
        if (looks.length > LONGEST_RUN) keep({ type: 'run', seq: row.seq, rows: looks })
        else items.push(...looks)
        index += looks.length
      } else if (isRetry(row)) {
        const retries = takeWhile(rows, index, isRetry)
        if (retries.length > 1) keep({ type: 'retries', seq: row.seq, rows: retries })
        else items.push(row)
        index += retries.length
      } else {
        items.push(row)
        index++
      }
    }
    this.folds = folds
    return items
  }
}

function takeWhile<Kind extends Row>(
  rows: readonly Row[],
  from: number,
  fits: (row: Row) => row is Kind,
): Kind[] {
  const taken: Kind[] = []
  for (let index = from; index < rows.length; index++) {
    const row = rows[index]
    if (row === undefined || !fits(row)) break
    taken.push(row)
  }
  return taken
}

/** Done, without a fault and without anybody's decision: nothing that must be seen. */
function isQuietLook(row: Row): row is ToolRow {
  if (row.type !== 'tool' || row.result === null || row.result.is_error) return false
  const { tool_name: name } = row.entry
  if (row.decisions.length > 0 || row.children.length > 0) return false
  return READERS.has(name) || SEARCHERS.has(name) || LISTERS.has(name)
}

function isRetry(row: Row): row is PlainRow {
  return row.type === 'entry' && row.entry.kind === 'notice' && RETRY.test(row.entry.text)
}

function isSame(one: readonly Row[], other: readonly Row[]): boolean {
  return one.length === other.length && one.every((row, index) => row === other[index])
}

/** `Read 9 files, searched 3 times`. */
export function runText(rows: readonly ToolRow[]): string {
  const named = (names: Set<string>) => rows.filter(({ entry }) => names.has(entry.tool_name))
  const files = new Set(named(READERS).map(({ entry }) => pathOf(entry.tool_input)))
  const searches = named(SEARCHERS).length
  const lists = named(LISTERS).length
  const parts: string[] = []
  if (files.size > 0) parts.push(`read ${countText(files.size, 'file')}`)
  if (searches > 0) parts.push(`searched ${countText(searches, 'time')}`)
  if (lists > 0) parts.push(`listed ${countText(lists, 'folder')}`)
  const text = parts.join(', ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function pathOf(input: unknown): unknown {
  return isRecord(input) ? (input.file_path ?? input.notebook_path) : input
}

/** The gap before an item: work stands close together, turns stand apart. */
export function gapBetween(before: Item | LiveItem | undefined, item: Item | LiveItem): Gap {
  if (before === undefined) return 'none'
  if (isWork(before) && isWork(item)) return 'none'
  const ends = before.type === 'entry' && before.entry.kind === 'turn_ended'
  const begins = item.type === 'entry' && item.entry.kind === 'user_message'
  return ends || begins ? 'wide' : 'close'
}

function isWork(item: Item | LiveItem): boolean {
  if (item.type === 'live') return item.block.kind !== 'text'
  return item.type !== 'retries' && (item.type !== 'entry' || item.entry.kind === 'thinking')
}

/** The call itself, or something that has it inside. */
export function holdsCall(item: Item | LiveItem, toolUseId: string): boolean {
  const within = (rows: readonly Row[]): boolean => rows.some((row) => holdsCall(row, toolUseId))
  switch (item.type) {
    case 'tool':
      return item.entry.tool_use_id === toolUseId || within(item.children)
    case 'subagent':
      return within(item.children)
    case 'run':
      return within(item.rows)
    case 'retries':
    case 'entry':
    case 'live':
      return false
  }
}
