import { expect, test } from 'vitest'

import type { TranscriptEntry } from '../protocol.gen'
import { makeOutcome, textEntry } from '../testing/fixtures'
import { arrange, type Row } from './arrange'

const at = '2026-01-02T03:04:05Z'

function toolUse(seq: number, id: string, parent?: string): TranscriptEntry {
  const nested = parent === undefined ? {} : { parent_tool_use_id: parent }
  const call = { message_id: 'm', index: seq, tool_use_id: id, tool_name: 'Bash', tool_input: {} }
  return { seq, at, ...nested, kind: 'tool_use', ...call }
}

function toolResult(seq: number, id: string): TranscriptEntry {
  return {
    seq,
    at,
    kind: 'tool_result',
    tool_use_id: id,
    is_error: false,
    content: [],
    structured: null,
  }
}

function decision(seq: number, id: string | null): TranscriptEntry {
  const about = { request_id: 'r', request_type: 'tool_approval' as const, tool_name: 'Bash' }
  const rest = { outcome: makeOutcome(), answers: null, updated_input: null }
  return { seq, at, kind: 'decision', tool_use_id: id, ...about, ...rest }
}

/** `3[d4 r5 {6}]`: the row of entry 3 with decision 4, result 5 and row 6 inside. */
function sketch(rows: Row[]): string {
  return rows
    .map((row) => {
      if (row.type === 'entry') return String(row.seq)
      const parts = row.decisions.map(({ seq }) => `d${seq}`)
      if (row.result !== null) parts.push(`r${row.result.seq}`)
      if (row.children.length > 0) parts.push(`{${sketch(row.children)}}`)
      return `${row.seq}[${parts.join(' ')}]`
    })
    .join(' ')
}

test.each<[string, TranscriptEntry[], string]>([
  ['plain entries stay', [textEntry(1), textEntry(2)], '1 2'],
  [
    'a call takes its decision and result',
    [toolUse(1, 'a'), decision(2, 'a'), toolResult(3, 'a')],
    '1[d2 r3]',
  ],
  ['a decision may come before its call', [decision(1, 'a'), toolUse(2, 'a')], '2[d1]'],
  ['what belongs to no known call stands alone', [toolResult(1, 'x'), decision(2, null)], '1 2'],
  [
    'a second result stands alone',
    [toolUse(1, 'a'), toolResult(2, 'a'), toolResult(3, 'a')],
    '1[r2] 3',
  ],
  [
    "a subagent's work is inside its call",
    [toolUse(1, 'a'), toolUse(2, 'b', 'a'), toolResult(3, 'b'), toolResult(4, 'a'), textEntry(5)],
    '1[r4 {2[r3]}] 5',
  ],
  ['a call that names itself as parent is not lost', [toolUse(1, 'a', 'a')], '1[]'],
])('%s', (_, entries, expected) => {
  expect(sketch(arrange(entries))).toBe(expected)
})
