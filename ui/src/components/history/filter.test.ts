import { expect, test } from 'vitest'

import { filterCount, NO_FILTER, readFilter, startOfDay, toQuery, writeFilter } from './filter'

const TODAY = startOfDay(new Date(2026, 4, 6, 15).getTime())
const local = (...date: [number, number, number]) => new Date(...date).toISOString()

test('a filter reads from the address what it wrote there', () => {
  const filter = { ...NO_FILTER, tool: 'Bash', time: 'range', from: '2026-05-01', search: 'rm -rf' }
  const query = { tool: 'Bash', time: 'range', from: '2026-05-01', search: 'rm -rf' }
  expect(writeFilter(filter)).toEqual(query)
  expect(readFilter({ ...query, other: 'x', tool: ['Bash', 'Edit'], by: null })).toEqual({
    ...filter,
    tool: '',
  })
})

test('a range that is not chosen is not in the address, and counts as one when it is', () => {
  const range = { ...NO_FILTER, from: '2026-05-01', to: '2026-05-02' }
  expect(writeFilter({ ...range, time: '7d' })).toEqual({ time: '7d' })
  expect([filterCount({ ...range, time: 'range' }), filterCount(NO_FILTER)]).toEqual([1, 0])
})

test.each([
  ['today', { since: local(2026, 4, 6) }],
  ['7d', { since: local(2026, 3, 30) }],
  ['30d', { since: local(2026, 3, 7) }],
  ['nonsense', {}],
  ['range', {}],
])('the time %s begins at midnight', (time, expected) => {
  expect(toQuery({ ...NO_FILTER, time }, TODAY)).toEqual(expected)
})

test('a range has its last day whole', () => {
  const filter = { ...NO_FILTER, time: 'range', from: '2026-05-01', to: '2026-05-02' }
  expect(toQuery(filter, TODAY)).toEqual({
    since: local(2026, 4, 1),
    until: new Date(2026, 4, 2, 23, 59, 59, 999).toISOString(),
  })
})

test('everything else goes to the server under its names', () => {
  const filter = { ...NO_FILTER, session: 's', project: '/a', search: ' x ', by: 'rule' }
  expect(toQuery(filter, TODAY)).toEqual({
    session_id: 's',
    project: '/a',
    search: 'x',
    by: 'rule',
  })
})
