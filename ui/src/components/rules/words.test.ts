import { expect, test } from 'vitest'

import type { Rule } from '../../protocol.gen'
import { makeSession, SESSION } from '../../testing/fixtures'
import { makeRule } from '../../testing/rules'
import { timeOfDay } from '../../text/time'
import { sampleCall } from './sampleCall'
import { hitsText, lifetimeText, scopeText, suggestionText } from './words'

const NOW = Date.parse('2026-01-02T12:00:00Z')
const SOON = '2026-01-02T12:02:00Z'

test.each<[string, Partial<Rule>]>([
  ['for good', {}],
  ['3 uses left', { uses_left: 3 }],
  ['1 use left', { uses_left: 1 }],
  [`until ${timeOfDay(SOON)}`, { expires_at: SOON }],
  [`2 uses left, until ${timeOfDay(SOON)}`, { expires_at: SOON, uses_left: 2 }],
  ['expired', { expires_at: '2026-01-02T12:00:00Z' }],
  ['used up', { uses_left: 0 }],
  ['until the session ends', { scope: { kind: 'session', session_id: SESSION } }],
])('%s', (text, rule) => {
  expect(lifetimeText(makeRule(rule), NOW)).toBe(text)
})

test('a time on another day has its date', () => {
  const text = lifetimeText(makeRule({ expires_at: '2026-03-04T12:00:00Z' }), NOW)
  expect(text).toContain('2026')
})

test('where a rule answers', () => {
  expect([
    scopeText({ kind: 'everywhere' }, null),
    scopeText({ kind: 'project', path: '/home/me/api' }, null),
    scopeText({ kind: 'session', session_id: SESSION }, makeSession()),
    scopeText({ kind: 'session', session_id: SESSION }, null),
  ]).toEqual(['everywhere', 'in ~/api', 'in the session “fix login”', 'in a session'])
})

test('how often and when', () => {
  expect([hitsText(makeRule()), hitsText(makeRule({ hits: 1 }))]).toEqual([
    'not used yet',
    'used 1 time',
  ])
})

test('one rule for each part of a command', () => {
  expect(suggestionText('prefix', 1)).toBe('Everything that begins like this')
  expect(suggestionText('prefix', 2)).toBe('Everything that begins like these parts')
})

test('a sample call looks like an agent’s', () => {
  expect(sampleCall('Bash', 'ls', ' /srv ')).toEqual({
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    cwd: '/srv',
  })
  expect(sampleCall('Write', 'src/a.ts', '/srv/').tool_input).toEqual({
    file_path: '/srv/src/a.ts',
  })
  expect(sampleCall('Read', '~/.ssh/config', '/srv').tool_input).toEqual({
    file_path: '~/.ssh/config',
  })
})
