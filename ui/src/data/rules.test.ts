import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { RefusedError } from '../connection/errors'
import type { Rule } from '../protocol.gen'
import { startStores, type TestServer } from '../testing/fixtures'
import { makeRule, RULE } from '../testing/rules'
import { receive } from './receive'
import { isSpent, limitsLeft, sameRule } from './ruleLimits'
import { useRules } from './rules'

const NOW = Date.parse('2026-01-02T04:00:00Z')
let server: TestServer

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
  server = startStores({ rules: [makeRule()] })
  server.answer = () => Promise.resolve({ rule_id: 'new', data: undefined })
})
afterEach(() => vi.useRealTimers())

test('the snapshot brings the rules, and every change brings all of them', () => {
  expect(useRules().list.map(({ rule_id }) => rule_id)).toEqual([RULE])
  receive({ type: 'rules', rules: [] })
  expect(useRules().list).toEqual([])
})

test('a rule that was used takes its own place, and none once it is gone', () => {
  const other = makeRule({ rule_id: 'other' })
  receive({ type: 'rules', rules: [makeRule(), other] })
  const used = makeRule({ hits: 1, last_hit_at: '2026-01-02T03:59:00Z', uses_left: 2 })
  receive({ type: 'rule_used', rule: used })
  expect(useRules().list).toEqual([used, other])
  receive({ type: 'rules', rules: [other] })
  receive({ type: 'rule_used', rule: used })
  expect(useRules().list).toEqual([other])
})

test('switching a rule off shows at once, and is taken back when it is refused', async () => {
  const refused = new RefusedError({ code: 'unknown_rule', message: 'There is no such rule.' })
  server.answer = () => Promise.reject(refused)
  const change = useRules().enable(RULE, false)
  expect(useRules().get(RULE)?.enabled).toBe(false)
  await expect(change).rejects.toBe(refused)
  expect(useRules().get(RULE)?.enabled).toBe(true)
})

test('a removal can be taken back for a while', async () => {
  const rule = makeRule({ reason: 'tests are safe', too_broad: 'runs scripts' })
  await useRules().remove(rule)
  receive({ type: 'rules', rules: [] })
  expect(useRules().removed).toEqual([rule])
  await useRules().undo(rule)
  expect(useRules().removed).toEqual([])
  expect(server.asked).toEqual([
    { type: 'remove_rule', rule_id: RULE },
    {
      type: 'add_rule',
      rule: 'Bash(npm test:*)',
      effect: 'allow',
      scope: { kind: 'project', path: '/srv/api' },
      reason: 'tests are safe',
      confirm_broad: true,
    },
  ])
  await useRules().remove(rule)
  vi.advanceTimersByTime(15_000)
  expect(useRules().removed).toEqual([])
})

test('a rule that was off is off again after its removal is taken back', async () => {
  await useRules().undo(makeRule({ enabled: false }))
  expect(server.asked).toEqual([
    {
      type: 'add_rule',
      rule: 'Bash(npm test:*)',
      effect: 'allow',
      scope: { kind: 'project', path: '/srv/api' },
      enabled: false,
    },
  ])
})

test('a refused removal leaves the rule where it is', async () => {
  server.answer = () => Promise.reject(new Error('no'))
  await expect(useRules().remove(makeRule())).rejects.toThrow('no')
  expect(useRules().removed).toEqual([])
})

test.each<[string, Partial<Rule>, object, boolean]>([
  ['for good', {}, {}, false],
  ['three uses', { uses_left: 3 }, { uses: 3 }, false],
  ['part of a minute', { expires_at: '2026-01-02T04:00:10Z' }, { minutes: 1 }, false],
  ['both', { uses_left: 2, expires_at: '2026-01-02T04:30:00Z' }, { uses: 2, minutes: 30 }, false],
  ['used up', { uses_left: 0 }, { uses: 1 }, true],
  ['expired', { expires_at: '2026-01-02T03:59:59Z' }, { minutes: 1 }, true],
])('what is left of a rule: %s', (_, part, limits, spent) => {
  const rule = makeRule(part)
  expect([limitsLeft(rule, NOW), isSpent(rule, NOW)]).toEqual([limits, spent])
})

test('samples go with the rule', () => {
  const samples = { matches: ['npm test'], matches_not: ['npm publish'] }
  expect(sameRule(makeRule(samples), NOW)).toMatchObject(samples)
})
