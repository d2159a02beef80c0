import { expect, test } from 'vitest'

import { makeRule } from '../../testing/rules'
import { fits, ruleRows } from './ruleRows'

test('the newest rule is on top, and a removed one keeps its place', () => {
  const rule = (rule_id: string, hour: number) =>
    makeRule({ rule_id, created_at: `2026-01-02T0${hour}:00:00Z` })
  const rows = ruleRows([rule('a', 1), rule('b', 2), rule('c', 3)], [rule('b', 2)])
  expect(rows.map(({ rule, isRemoved }) => [rule.rule_id, isRemoved])).toEqual([
    ['c', false],
    ['b', true],
    ['a', false],
  ])
})

test('a filter looks for every word', () => {
  const rule = makeRule({ reason: 'Tests are safe' })
  expect(fits(rule, '', 'all')).toBe(true)
  expect(fits(rule, 'NPM safe', 'allow')).toBe(true)
  expect(fits(rule, 'npm danger', 'all')).toBe(false)
  expect(fits(rule, 'npm', 'deny')).toBe(false)
})
