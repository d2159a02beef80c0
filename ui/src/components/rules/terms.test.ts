import { expect, test } from 'vitest'

import type { Rule } from '../../protocol.gen'
import { SESSION } from '../../testing/fixtures'
import { makeRule } from '../../testing/rules'
import {
  amountProblem,
  isTerms,
  limits,
  limitsAfter,
  termsOf,
  USUAL_TERMS,
  withLifetime,
  withScope,
  type Terms,
} from './terms'

const NOW = Date.parse('2026-01-02T04:00:00Z')
const terms = (part: Partial<Terms> = {}): Terms => ({ ...USUAL_TERMS, ...part })

test('what belongs to a session ends with it, and nothing else does', () => {
  expect(withScope(terms(), 'session').lifetime).toBe('session')
  expect(withScope(terms({ lifetime: 'uses' }), 'session').lifetime).toBe('uses')
  expect(withScope(terms({ scope: 'session', lifetime: 'session' }), 'everywhere')).toEqual(
    terms({ scope: 'everywhere' }),
  )
  expect(withLifetime(terms(), 'session').scope).toBe('session')
  expect(withLifetime(terms({ scope: 'session' }), 'forever').scope).toBe('project')
})

test.each<[Terms['lifetime'], object]>([
  ['once', { uses: 1 }],
  ['uses', { uses: 5 }],
  ['minutes', { minutes: 15 }],
  ['session', {}],
  ['forever', {}],
])('%s is sent as its limits', (lifetime, sent) => {
  expect(limits(terms({ lifetime }))).toEqual(sent)
})

test('an amount is a whole number that makes sense', () => {
  const problem = (uses: number) => amountProblem(terms({ lifetime: 'uses', uses }))
  expect([problem(1), problem(1_000_000)]).toEqual([null, null])
  for (const wrong of [0, -1, 1.5, 1_000_001]) expect(problem(wrong)).toContain('uses')
  expect(amountProblem(terms({ uses: 0 }))).toBeNull()
})

test.each<[string, Partial<Rule>, Partial<Terms>]>([
  ['for good', {}, {}],
  ['one use', { uses_left: 1 }, { lifetime: 'once', uses: 1 }],
  ['uses', { uses_left: 3 }, { lifetime: 'uses', uses: 3 }],
  ['minutes', { expires_at: '2026-01-02T04:09:30Z' }, { lifetime: 'minutes', minutes: 10 }],
  ['an expired one', { expires_at: '2026-01-01T00:00:00Z' }, { lifetime: 'minutes' }],
  ['one that is used up', { uses_left: 0 }, { lifetime: 'uses' }],
  [
    'of a session',
    { scope: { kind: 'session', session_id: SESSION } },
    { scope: 'session', lifetime: 'session' },
  ],
])('the terms of a rule: %s', (_, rule, expected) => {
  expect(termsOf(makeRule(rule), NOW)).toEqual(terms(expected))
})

test('a lifetime that nobody touched goes on with all its limits', () => {
  const rule = makeRule({ uses_left: 3, expires_at: '2026-01-02T04:10:00Z' })
  const before = termsOf(rule, NOW)
  const usedMeanwhile = { ...rule, uses_left: 2 }
  expect(limitsAfter(before, before, usedMeanwhile, NOW)).toEqual({ uses: 2, minutes: 10 })
  const forever = withLifetime(before, 'forever')
  expect(limitsAfter(forever, before, usedMeanwhile, NOW)).toEqual({})
})

test('only terms are taken for terms', () => {
  expect(isTerms(terms())).toBe(true)
  for (const other of [null, {}, { ...terms(), scope: 'moon' }, { ...terms(), uses: '1' }]) {
    expect(isTerms(other)).toBe(false)
  }
})
