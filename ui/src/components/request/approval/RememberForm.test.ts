import { flushPromises, mount, type DOMWrapper, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { RefusedError } from '../../../connection/errors'
import { receive } from '../../../data/receive'
import { useRequests } from '../../../data/requests'
import type { ClientMessage, PendingRequest } from '../../../protocol.gen'
import { makeRequest, makeSession, startStores, type TestServer } from '../../../testing/fixtures'
import { answerRules, makeSuggestion, makeTried, type RuleAnswers } from '../../../testing/rules'
import RequestCard from '../RequestCard.vue'

const PROJECT = { kind: 'project', path: '/srv/api' }
const SUGGESTIONS = [
  makeSuggestion('exact', ['Bash(npm test)']),
  makeSuggestion('prefix', ['Bash(npm test:*)', 'Bash(ls:*)']),
  makeSuggestion('tool', ['Bash'], { allows: false }),
]

let server: TestServer
let card: VueWrapper

beforeEach(() => {
  vi.useFakeTimers()
  server = startStores()
  server.answer = () => Promise.resolve({ rule_id: 'new', data: undefined })
})
afterEach(() => {
  card.unmount()
  vi.useRealTimers()
})

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(600)
  await flushPromises()
}

/** A card whose rules are answered as told. */
async function show(answers: RuleAnswers = {}, request: Partial<PendingRequest> = {}) {
  const posted = answerRules({ suggestions: SUGGESTIONS, ...answers })
  const pending_request = makeRequest(request)
  receive({ type: 'request_opened', pending_request })
  const props = { request: pending_request, session: makeSession(), position: 1, total: 1 }
  card = mount(RequestCard, { props, attachTo: document.body })
  await settle()
  return posted
}

/** The form for Always allow, with everything read. */
async function remember(answers: RuleAnswers = {}, request: Partial<PendingRequest> = {}) {
  const posted = await show(answers, request)
  useRequests().markSeen(makeRequest(request).request_id)
  await flushPromises()
  await press('always-allow')
  await settle()
  return posted
}

const part = (id: string) => card.find<HTMLInputElement>(`[data-testid="${id}"]`)
const parts = (id: string) => card.findAll<HTMLInputElement>(`[data-testid="${id}"]`)
const press = (id: string) => part(id).trigger('click')
const values = (found: DOMWrapper<HTMLInputElement>[]) => found.map(({ element }) => element.value)
const texts = () => values(parts('rule-text'))

async function choose(kind: string): Promise<void> {
  await card.find(`[data-testid="rule-suggestion"][data-kind="${kind}"] input`).trigger('change')
  await settle()
}

async function save(): Promise<void> {
  await part('rule-builder').trigger('submit')
  await settle()
}

const sent = (): ClientMessage[] => server.asked
const decisions = () => server.askedFor('respond')

test('the narrowest rule is remembered in this project, for good, and the request allowed', async () => {
  const posted = await remember()
  expect(parts('rule-suggestion').map((row) => row.attributes('data-kind'))).toEqual([
    'exact',
    'prefix',
  ])
  expect(posted).toEqual([
    {
      rule: 'Bash(npm test)',
      with: [],
      effect: 'allow',
      scope: PROJECT,
      session_id: makeSession().session_id,
    },
  ])
  await save()
  expect(sent()).toEqual([
    { type: 'add_rule', rule: 'Bash(npm test)', effect: 'allow', scope: PROJECT },
    expect.objectContaining({ type: 'respond', decision: { behavior: 'allow' } }),
  ])
})

test('a prefix for each part, changed and left out, with its terms', async () => {
  await remember()
  await choose('prefix')
  expect(texts()).toEqual(['Bash(npm test:*)', 'Bash(ls:*)'])
  await card.find('[aria-label="Leave out rule 2"]').trigger('click')
  await part('rule-text').setValue('Bash(npm run test:*)')
  await part('rule-lifetime').setValue('uses')
  await part('rule-lifetime-amount').setValue('3')
  await part('rule-scope').setValue('everywhere')
  await part('rule-reason').setValue('tests only read')
  await settle()
  await save()
  expect(server.askedFor('add_rule')).toEqual([
    {
      type: 'add_rule',
      rule: 'Bash(npm run test:*)',
      effect: 'allow',
      scope: { kind: 'everywhere' },
      uses: 3,
      reason: 'tests only read',
    },
  ])
})

test('a wrong rule says what is wrong and cannot be saved', async () => {
  await remember({
    tried: (rule) => makeTried({ problem: rule.endsWith(')') ? null : 'A bracket is missing.' }),
  })
  await part('rule-text').setValue('Bash(npm')
  expect(part('rule-save').element.disabled).toBe(true)
  await settle()
  expect(part('rule-problem').text()).toBe('A bracket is missing.')
  await save()
  expect(sent()).toEqual([])
})

test('a broad rule says why and wants a second yes, again for every other one', async () => {
  const why = 'it runs any script'
  await remember({ tried: () => makeTried({ too_broad: why }) })
  expect(part('rule-broad').text()).toContain(why)
  expect(part('rule-save').element.disabled).toBe(true)
  await part('rule-confirm-broad').setValue(true)
  expect(part('rule-save').element.disabled).toBe(false)
  await part('rule-text').setValue('Bash(npm:*)')
  await settle()
  expect(part('rule-save').element.disabled).toBe(true)
  await part('rule-confirm-broad').setValue(true)
  await save()
  expect(server.askedFor('add_rule')).toMatchObject([{ confirm_broad: true }])
})

test('what the server calls too broad is asked about in place', async () => {
  await remember()
  const refusal = { code: 'rule_too_broad' as const, message: 'It runs any script.' }
  server.answer = () => Promise.reject(new RefusedError(refusal))
  await save()
  expect([part('rule-error').text(), decisions()]).toEqual(['It runs any script.', []])
  expect(part('rule-broad').exists()).toBe(true)
})

test('other requests that it covers are listed, and decided when they are ticked', async () => {
  const other = makeRequest({ request_id: 'other', tool_input: { command: 'npm test -- a' } })
  receive({ type: 'request_opened', pending_request: other })
  const own = makeRequest().request_id
  await remember({ tried: () => makeTried({ covers: [own, 'other', 'closed'] }) })
  const boxes = parts('rule-cover')
  expect(boxes.map((box) => box.attributes('data-request-id'))).toEqual(['other'])
  expect(boxes[0]?.element.checked).toBe(false)
  await part('rule-cover').setValue(true)
  await save()
  expect(server.askedFor('add_rule')).toMatchObject([{ decide: ['other'] }])
})

test('what it would match is shown in short', async () => {
  const calls = Array.from({ length: 7 }, (_, index) => ({
    tool_name: 'Bash',
    subject: `npm test ${index}`,
  }))
  const none = [{ tool_name: 'Read', subject: '/srv/a' }]
  await remember({ tried: () => makeTried({ would_match: calls, would_not_match: none }) })
  expect(parts('rule-match')).toHaveLength(5)
  expect(part('rule-no-match').text()).toBe('Read /srv/a')
  expect(part('rule-builder').text()).toContain('and 2 more')
})

test('when one rule fails nothing is decided, and the others are not sent again', async () => {
  await remember()
  await choose('prefix')
  const refusal = new RefusedError({ code: 'invalid_rule', message: 'Not this one.' })
  server.answer = (message) =>
    message.type === 'add_rule' && message.rule === 'Bash(ls:*)'
      ? Promise.reject(refusal)
      : Promise.resolve({ rule_id: 'new', data: undefined })
  await save()
  expect([part('rule-error').text(), decisions()]).toEqual(['Not this one.', []])
  expect(texts()).toEqual(['Bash(npm test:*)', 'Bash(ls:*)'])
  server.answer = () => Promise.resolve({ rule_id: 'new', data: undefined })
  server.asked.length = 0
  await save()
  expect(server.askedFor('add_rule')).toMatchObject([{ rule: 'Bash(ls:*)' }])
  expect(decisions()).toHaveLength(1)
})

test('nothing is remembered as allowed before all of it has been in view', async () => {
  await show()
  await press('always-allow')
  await settle()
  expect(part('rule-save').element.disabled).toBe(true)
  await save()
  expect(sent()).toEqual([])
  expect(card.text()).toContain('Go back and read all of it first.')
})

test('always deny tells the agent the reason', async () => {
  await show()
  await press('deny')
  await part('deny-reason').setValue('Use pnpm.')
  await press('always-deny')
  await settle()
  expect(part('rule-reason').element.value).toBe('Use pnpm.')
  await choose('tool')
  await save()
  expect(sent()).toEqual([
    { type: 'add_rule', rule: 'Bash', effect: 'deny', scope: PROJECT, reason: 'Use pnpm.' },
    expect.objectContaining({ decision: { behavior: 'deny', message: 'Use pnpm.' } }),
  ])
})

test('going back loses nothing that was typed', async () => {
  await remember()
  await part('rule-text').setValue('Bash(npm t:*)')
  await part('rule-text').trigger('keydown', { key: 'Escape' })
  expect(part('rule-builder').exists()).toBe(false)
  await press('always-allow')
  await settle()
  expect(texts()).toEqual(['Bash(npm t:*)'])
})

test('the agent’s own settings are a second place, when it offers one', async () => {
  await remember()
  expect(part('rule-place').exists()).toBe(false)
  card.unmount()
  const suggestions = [{ type: 'addRules', rules: [{ toolName: 'Bash' }], behavior: 'allow' }]
  await remember({}, { request_id: 'offers', suggestions })
  expect(parts('rule-place').map((place) => place.text())).toEqual([
    'Sayso’s rules',
    'Claude Code’s own settings',
  ])
  expect([part('rule-builder').isVisible(), part('always').isVisible()]).toEqual([true, false])
  await card.find('[data-place="agent"] input').setValue(true)
  expect([part('rule-builder').isVisible(), part('always').isVisible()]).toEqual([false, true])
})

test('what cannot be loaded can be tried again', async () => {
  await remember({ suggestions: undefined })
  expect(part('rule-builder').text()).toContain('There is nothing at this address.')
  answerRules({ suggestions: SUGGESTIONS })
  await card.find('[role="alert"] button').trigger('click')
  await settle()
  expect(texts()).toEqual(['Bash(npm test)'])
})
