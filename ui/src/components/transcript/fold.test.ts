import { expect, test } from 'vitest'

import { arrange, type Row } from '../../data/arrange'
import type { TranscriptEntry } from '../../protocol.gen'
import { textEntry } from '../../testing/fixtures'
import { Folder, gapBetween, runText, type Item } from './fold'

const at = '2026-01-02T03:04:05Z'

/** Calls that are done: `R` reads, `S` searches, `!` fails, `B` runs a command; `n` is a retry. */
function rowsOf(pattern: string): readonly Row[] {
  const names: Record<string, string> = { R: 'Read', S: 'Grep', L: 'LS', '!': 'Read', B: 'Bash' }
  return arrange(
    [...pattern].flatMap((sign, index): TranscriptEntry[] => {
      const seq = index * 2 + 1
      const name = names[sign]
      if (sign === 'n')
        return [{ seq, at, kind: 'notice', level: 'warning', text: `Try ${seq} of 10` }]
      if (name === undefined) return [textEntry(seq)]
      const call = { message_id: `m${seq}`, index: 0, tool_use_id: `t${seq}`, tool_name: name }
      const end = { tool_use_id: `t${seq}`, is_error: sign === '!', content: [], structured: null }
      return [
        { seq, at, kind: 'tool_use', ...call, tool_input: { file_path: `/${seq % 8}` } },
        { seq: seq + 1, at, kind: 'tool_result', ...end },
      ]
    }),
  )
}

function sketch(items: readonly Item[]): string {
  return items
    .map((item) => ('rows' in item ? `${item.type}:${item.rows.length}` : item.type))
    .join(' ')
}

test.each([
  ['tRRRRRR', 'entry tool tool tool tool tool tool'],
  ['tRRRRSSSt', 'entry run:7 entry'],
  ['RRR!RRRR', 'tool tool tool tool tool tool tool tool'],
  ['RRRBRRRRRRRR', 'tool tool tool tool run:8'],
  ['tnnnt', 'entry retries:3 entry'],
  ['tnt', 'entry entry entry'],
])('%s folds to %s', (pattern, expected) => {
  expect(sketch(new Folder().fold(rowsOf(pattern)))).toBe(expected)
})

test('a fold says what is in it and stays the same while nothing in it changes', () => {
  const rows = rowsOf('tRRRRRRSSLt')
  const folder = new Folder()
  const [, run] = folder.fold(rows)
  expect(run?.type === 'run' && runText(run.rows)).toBe(
    'Read 4 files, searched 2 times, listed 1 folder',
  )
  expect(folder.fold([...rows, ...rowsOf('t')])[1]).toBe(run)
})

test('work stands close together, turns stand apart', () => {
  const [text, read, search] = new Folder().fold(rowsOf('tRS'))
  if (text === undefined || read === undefined || search === undefined) throw new Error('no rows')
  expect([gapBetween(undefined, text), gapBetween(text, read), gapBetween(read, search)]).toEqual([
    'none',
    'close',
    'none',
  ])
})
