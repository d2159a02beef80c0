import { expect, test } from 'vitest'

import type { TranscriptEntry } from '../protocol.gen'
import { makeOutcome, textEntry } from '../testing/fixtures'
import { arrange, Arrangement, type Row } from './arrange'

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
function sketch(rows: readonly Row[]): string {
  return rows
    .map((row) => {
      if (row.type === 'entry') return String(row.seq)
      if (row.type === 'subagent') return `?{${sketch(row.children)}}`
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
  [
    'calls that name each other are not lost',
    [toolUse(1, 'a', 'b'), toolUse(2, 'b', 'a')],
    '1[{2[]}]',
  ],
  [
    "a subagent's work stands together while its call is not known",
    [toolUse(3, 'b', 'a'), textEntry(4), toolUse(5, 'c', 'a'), toolResult(6, 'b')],
    '?{3[r6] 5[]} 4',
  ],
])('%s', (_, entries, expected) => {
  expect(sketch(arrange(entries))).toBe(expected)
})

test('a subagent that was seen without its call moves into it', () => {
  const arrangement = new Arrangement()
  arrangement.add([toolUse(7, 'b', 'a'), toolResult(8, 'b'), toolResult(9, 'a'), textEntry(10)])
  expect(sketch(arrangement.rows)).toBe('?{7[r8]} 9 10')
  arrangement.add([toolUse(5, 'a'), toolUse(6, 'd', 'a')])
  expect(sketch(arrangement.rows)).toBe('5[r9 {6[] 7[r8]}] 10')
})

test('an entry replaces the rows it changes and leaves the others as they are', () => {
  const arrangement = new Arrangement()
  arrangement.add([textEntry(1), toolUse(2, 'a'), toolUse(3, 'b', 'a'), toolUse(4, 'c', 'a')])
  const before = arrangement.rows
  arrangement.add([toolResult(5, 'b'), textEntry(6)])
  const [text, call, added] = arrangement.rows
  expect([text, added?.seq]).toEqual([before[0], 6])
  expect(text).toBe(before[0])
  expect(call).not.toBe(before[1])
  const children = (row: Row | undefined) => (row?.type === 'tool' ? row.children : [])
  expect(children(call)[0]).not.toBe(children(before[1])[0])
  expect(children(call)[1]).toBe(children(before[1])[1])
})

/** The same numbers on every run, so that a failure can be repeated. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function randomEntries(random: (below: number) => number): TranscriptEntry[] {
  const count = 5 + random(30)
  const someId = () => `call-${random(count)}`
  return Array.from({ length: count }, (_, index) => {
    const seq = index + 1
    const entry = [
      () => textEntry(seq),
      () => toolUse(seq, `call-${index}`),
      () => toolResult(seq, someId()),
      () => decision(seq, random(4) === 0 ? null : someId()),
    ][random(4)]?.()
    const parent = random(3) === 0 ? { parent_tool_use_id: someId() } : {}
    return { ...(entry ?? textEntry(seq)), ...parent }
  })
}

test('in whatever order entries come, the rows are the same', () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomFrom(seed)
    const entries = randomEntries(random)
    const rest = [...entries]
    const arrangement = new Arrangement()
    while (rest.length > 0) {
      arrangement.add(rest.splice(random(rest.length), 1 + random(3)))
      expect(arrangement.rows.length).toBeGreaterThan(0)
    }
    expect(arrangement.rows, `seed ${seed}`).toEqual(arrange(entries))
  }
})
