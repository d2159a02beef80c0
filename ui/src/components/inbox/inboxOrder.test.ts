import { expect, test } from 'vitest'

import type { PendingRequest } from '../../protocol.gen'
import { makeOutcome, makeRequest } from '../../testing/fixtures'
import { arrange, successor, type InboxRow } from './inboxOrder'

const NOW = Date.parse('2026-01-02T03:00:00Z')
const at = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString()

const running = (request_id: string, seconds: number): PendingRequest =>
  makeRequest({ request_id, deadline: at(seconds) })
const patient = (request_id: string, age: number): PendingRequest =>
  makeRequest({ request_id, created_at: at(-age) })
const held = (request_id: string): PendingRequest =>
  makeRequest({ request_id, held: true, remaining_seconds: 5 })
const ended = (request_id: string): InboxRow => ({
  request: makeRequest({ request_id }),
  outcome: makeOutcome(),
})

const ids = (rows: readonly InboxRow[]): string =>
  rows.map(({ request, outcome }) => request.request_id + (outcome === null ? '' : '!')).join(' ')

/** The order after each of these states, as time goes by. */
function orders(...states: { open: PendingRequest[]; closed?: InboxRow[]; after?: number }[]) {
  let rows: InboxRow[] = []
  return states.map(({ open, closed = [], after = 0 }) => {
    rows = arrange(rows, open, closed, NOW + after * 1000)
    return ids(rows)
  })
}

test('running clocks first, then by age, held ones last', () => {
  const open = [held('held'), patient('new', 5), running('late', 900), patient('old', 50)]
  expect(orders({ open: [...open, running('soon', 300)] })).toEqual(['soon late old new held'])
})

test('what arrives takes its place among the others', () => {
  const open = [running('late', 900), patient('old', 50)]
  expect(orders({ open }, { open: [...open, running('soon', 300), patient('new', 1)] })).toEqual([
    'late old',
    'soon late old new',
  ])
})

test('a clock that is stopped, extended or started moves nothing', () => {
  expect(
    orders(
      { open: [running('a', 300), running('b', 400), held('c')] },
      { open: [held('a'), running('b', 900), running('c', 200)] },
    ),
  ).toEqual(['a b c', 'a b c'])
})

test('what becomes urgent moves up, the soonest on top', () => {
  const open = [running('a', 600), patient('b', 5), held('c'), running('d', 700)]
  const resumed = [open[0]!, open[1]!, running('c', 300), open[3]!]
  expect(
    orders(
      { open },
      { open: resumed },
      { open: resumed, after: 240 },
      { open: resumed, after: 640 },
    ),
  ).toEqual(['a d b c', 'a d b c', 'c a d b', 'c a d b'])
})

test('what has ended keeps its place for as long as it is shown', () => {
  const open = [running('a', 30), running('b', 300), patient('c', 5)]
  const [, b, c] = open as [PendingRequest, PendingRequest, PendingRequest]
  expect(
    orders(
      { open },
      { open: [b, c], closed: [ended('a')] },
      { open: [b, c], closed: [ended('a')], after: 250 },
      { open: [b, c], after: 250 },
    ),
  ).toEqual(['a b c', 'a! b c', 'a! b c', 'b c'])
})

test('what ended before the list was opened is not in it', () => {
  expect(orders({ open: [patient('a', 1)], closed: [ended('b')] })).toEqual(['a'])
})

test.each([
  ['the next below', 'a b c', 'a b! c', 'b', 'c'],
  ['the last above when it was the lowest', 'a b c', 'a b c!', 'c', 'b'],
  ['the one in its place when the row is gone', 'a b c', 'a c', 'b', 'c'],
  ['the first when none was selected', '', 'a b', null, 'a'],
  ['none when all has ended', 'a', 'a!', 'a', null],
])('goes on with %s', (_name, before, now, from, to) => {
  const rows = (text: string): InboxRow[] =>
    text
      .split(' ')
      .filter(Boolean)
      .map((id) => (id.endsWith('!') ? ended(id.slice(0, -1)) : { ...ended(id), outcome: null }))
  expect(successor(rows(before), rows(now), from)).toBe(to)
})
