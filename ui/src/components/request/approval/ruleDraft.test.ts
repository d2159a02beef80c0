import { expect, test } from 'vitest'

import { makeSession, SESSION } from '../../../testing/fixtures'
import { makeSuggestion } from '../../../testing/rules'
import { USUAL_TERMS } from '../../rules/terms'
import {
  isRuleDraft,
  NEW_DRAFT,
  offered,
  ruleTexts,
  rulesToAdd,
  scopeIn,
  suggestionKey,
} from './ruleDraft'

const EXACT = makeSuggestion('exact', ['Bash(npm test)'])
const TOOL = makeSuggestion('tool', ['Bash'], { allows: false })

test('what would not allow the request can only be denied', () => {
  expect(offered([EXACT, TOOL], 'allow')).toEqual([EXACT])
  expect(offered([EXACT, TOOL], 'deny')).toEqual([EXACT, TOOL])
})

test('each suggestion has a key of its own', () => {
  expect(suggestionKey(EXACT)).not.toBe(suggestionKey(makeSuggestion('prefix', ['Bash(npm test)'])))
})

test('a scope is that of the session at hand', () => {
  const session = makeSession({ cwd: '/srv/api' })
  expect([
    scopeIn('session', session),
    scopeIn('project', session),
    scopeIn('everywhere', session),
  ]).toEqual([
    { kind: 'session', session_id: SESSION },
    { kind: 'project', path: '/srv/api' },
    { kind: 'everywhere' },
  ])
})

test('rules are sent without blanks around them, and each once', () => {
  expect(ruleTexts([' Bash(ls) ', 'Bash(ls)', 'Read'])).toEqual(['Bash(ls)', 'Read'])
})

test('one message for each rule, with what belongs to it', () => {
  const scope = { kind: 'everywhere' } as const
  const messages = rulesToAdd({
    texts: ['Bash(a:*)', 'Bash(bash:*)'],
    effect: 'allow',
    scope,
    terms: { ...USUAL_TERMS, lifetime: 'minutes' },
    reason: ' it is safe ',
    broad: ['Bash(bash:*)'],
    decide: ['x', 'y'],
  })
  const both = { effect: 'allow', scope, minutes: 15, reason: 'it is safe' }
  expect(messages).toEqual([
    { rule: 'Bash(a:*)', ...both },
    { rule: 'Bash(bash:*)', ...both, confirm_broad: true, decide: ['x', 'y'] },
  ])
})

test('only a draft is taken for a draft', () => {
  expect(isRuleDraft(NEW_DRAFT)).toBe(true)
  expect(isRuleDraft({ ...NEW_DRAFT, chosen: 'a', edits: { a: ['Bash'] } })).toBe(true)
  for (const other of [null, { ...NEW_DRAFT, edits: { a: 'Bash' } }, { ...NEW_DRAFT, terms: {} }]) {
    expect(isRuleDraft(other)).toBe(false)
  }
})
