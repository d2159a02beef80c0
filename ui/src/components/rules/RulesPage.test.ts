import { flushPromises, mount, RouterLinkStub, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { RefusedError } from '../../connection/errors'
import { receive } from '../../data/receive'
import type { Rule, Session } from '../../protocol.gen'
import { installBrowser } from '../../testing/browser'
import { makeSession, SESSION, startStores, type TestServer } from '../../testing/fixtures'
import { answerRules, makeRule, RULE, type RuleAnswers } from '../../testing/rules'
import RulesPage from './RulesPage.vue'

installBrowser()

const PROJECT = { kind: 'project', path: '/srv/api' }
let server: TestServer
let page: VueWrapper

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-01-02T04:00:00Z') })
})
afterEach(() => {
  page.unmount()
  vi.useRealTimers()
})

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(300)
  await flushPromises()
}

async function show(
  rules: Partial<Rule>[],
  answers: RuleAnswers = {},
  sessions: Partial<Session>[] = [],
) {
  const posted = answerRules(answers)
  server = startStores({ rules: rules.map(makeRule), sessions: sessions.map(makeSession) })
  server.answer = () => Promise.resolve({ rule_id: 'new', data: undefined })
  const global = { stubs: { RouterLink: RouterLinkStub } }
  page = mount(RulesPage, { global, attachTo: document.body })
  await settle()
  return posted
}

const part = (id: string) => page.find<HTMLInputElement>(`[data-testid="${id}"]`)
const rows = () => page.findAll('[data-testid="rule-row"]')
const texts = () => page.findAll('[data-testid="rule-row"] .text').map((text) => text.text())
const press = (id: string) => part(id).trigger('click')

test('an empty page teaches', async () => {
  await show([])
  expect(part('rules-empty').text()).toBe(
    'No rule yet. When you allow something always, it is remembered here.',
  )
})

test('a rule says what it does, where, how long, why and how often', async () => {
  await show([
    {
      uses_left: 3,
      reason: 'tests are safe',
      hits: 2,
      last_hit_at: '2026-01-02T03:57:00Z',
      created_at: '2026-01-02T01:00:00Z',
    },
  ])
  const [row] = rows()
  expect([row?.attributes('data-rule-id'), row?.attributes('data-effect')]).toEqual([RULE, 'allow'])
  const words = row?.text().replace(/\s+/g, ' ')
  expect(words).toContain('in /srv/api · 3 uses left')
  expect(words).toContain('“tests are safe”')
  expect(words).toContain('used 2 times, last 3 min ago · made 3 h ago on Chrome on Linux')
})

test('what is off or over is dimmed and says so', async () => {
  await show([{ enabled: false }, { rule_id: 'b', expires_at: '2026-01-02T03:00:00Z' }])
  expect(page.findAll('.dimmed')).toHaveLength(2)
  expect(page.text()).toContain('switched off')
  expect(page.text()).toContain('expired')
})

test('the filter looks at the text and at the effect', async () => {
  await show([{}, { rule_id: 'b', rule: 'Bash(rm:*)', effect: 'deny' }])
  await part('rules-filter').setValue('rm')
  expect(texts()).toEqual(['Bash(rm:*)'])
  await part('rules-filter-effect').setValue('allow')
  expect(page.text()).toContain('No rule fits.')
})

test('a rule is switched off', async () => {
  await show([{}])
  await press('rule-enable')
  expect(part('rule-enable').attributes('aria-checked')).toBe('false')
  expect(server.asked).toEqual([{ type: 'enable_rule', rule_id: RULE, enabled: false }])
})

test('a rule is deleted, and comes back', async () => {
  await show([{}])
  await press('rule-delete')
  receive({ type: 'rules', rules: [] })
  await settle()
  expect(rows().map((row) => row.text())).toEqual(['Removed Bash(npm test:*). Undo'])
  await press('rule-undo')
  await settle()
  expect(server.asked.at(-1)).toEqual({
    type: 'add_rule',
    rule: 'Bash(npm test:*)',
    effect: 'allow',
    scope: PROJECT,
  })
})

test('what was spent does not come back to life', async () => {
  await show([{ uses_left: 0 }])
  await press('rule-delete')
  await settle()
  expect([rows().length, part('rule-undo').exists()]).toEqual([1, false])
})

test('a rule is added with samples', async () => {
  await show([])
  await press('rule-add')
  await part('rule-effect').setValue('deny')
  await part('rule-text').setValue(' Bash(git push:*) ')
  await part('rule-path').setValue('/srv/web')
  await part('rule-reason').setValue('I push myself.')
  await press('rule-matches-add')
  await part('rule-matches').setValue('git push')
  await press('rule-matches-not-add')
  await part('rule-matches-not').setValue('git pull')
  await press('rule-matches-not-add')
  await settle()
  await part('rule-form').trigger('submit')
  await settle()
  expect(server.asked).toEqual([
    {
      type: 'add_rule',
      rule: 'Bash(git push:*)',
      effect: 'deny',
      scope: { kind: 'project', path: '/srv/web' },
      reason: 'I push myself.',
      matches: ['git push'],
      matches_not: ['git pull'],
    },
  ])
  expect(part('rule-form').exists()).toBe(false)
})

test('a rule is edited; a refusal keeps what was typed', async () => {
  await show([{ uses_left: 4, too_broad: 'wide' }])
  await press('rule-edit')
  await part('rule-reason').setValue('because')
  await settle()
  server.answer = () =>
    Promise.reject(new RefusedError({ code: 'invalid_rule', message: 'A sample does not match.' }))
  await part('rule-form').trigger('submit')
  await settle()
  expect(part('rule-error').text()).toBe('A sample does not match.')
  expect(part('rule-reason').element.value).toBe('because')
  server.answer = () => Promise.resolve({ data: undefined })
  await part('rule-form').trigger('submit')
  await settle()
  const rule = { rule: 'Bash(npm test:*)', effect: 'allow', scope: PROJECT, uses: 4 }
  expect(server.asked.at(-1)).toEqual({
    type: 'update_rule',
    rule_id: RULE,
    rule: { ...rule, reason: 'because' },
  })
})

test('a tested command says what would happen and why', async () => {
  const tested = {
    decision: 'ask' as const,
    matched: [RULE],
    explanation: 'No rule allows `git push`.',
    risks: [{ kind: 'network' as const, words: 'git push' }],
  }
  const posted = await show([{}], { tested })
  await part('rules-filter').setValue('something else')
  await part('rule-test-input').setValue('npm test && git push')
  await press('rule-test-run')
  await part('rule-test-input').trigger('submit')
  await settle()
  expect(posted).toEqual([
    { tool_name: 'Bash', tool_input: { command: 'npm test && git push' }, cwd: '/srv/api' },
  ])
  const result = part('rule-test-result')
  expect(result.attributes('data-decision')).toBe('ask')
  expect(result.text()).toContain('No rule allows `git push`.')
  expect(result.find('[data-kind="network"]').exists()).toBe(true)
  await press('rule-test-match')
  await settle()
  expect(document.activeElement?.id).toBe(`rule-${RULE}`)
  // A rule that is used does not change the answer; one that is changed may.
  receive({ type: 'rules', rules: [makeRule({ hits: 1 })] })
  await settle()
  expect(posted).toHaveLength(1)
  receive({ type: 'rules', rules: [makeRule({ enabled: false })] })
  await settle()
  expect(posted).toHaveLength(2)
  await part('rule-test-input').setValue('ls')
  expect(part('rule-test-result').exists()).toBe(false)
})

const OTHER = '00000000-0000-4000-8000-000000000002'
const RUNNING: Partial<Session>[] = [
  { title: 'fix login', state_changed_at: '2026-01-02T03:50:00Z' },
  {
    ...{ session_id: OTHER, title: 'docs', cwd: '/home/me/web' },
    ...{ state_changed_at: '2026-01-02T03:55:00Z' },
  },
  { session_id: 'ended', state: 'dead', state_changed_at: '2026-01-02T03:59:00Z' },
]
const options = (id: string) => part(id).findAll('option')

test('a rule for one of the running sessions', async () => {
  await show([], {}, RUNNING)
  server.asked.length = 0
  await press('rule-add')
  expect(part('rule-session').exists()).toBe(false)
  await part('rule-text').setValue('Bash(ls:*)')
  await part('rule-scope').setValue('session')
  expect(options('rule-session').map((option) => option.text())).toEqual([
    'docs · ~/web',
    'fix login · /srv/api',
  ])
  expect(part('rule-session').element.value).toBe(OTHER)
  await part('rule-session').setValue(SESSION)
  await settle()
  await part('rule-form').trigger('submit')
  await settle()
  expect(server.asked).toEqual([
    {
      type: 'add_rule',
      rule: 'Bash(ls:*)',
      effect: 'allow',
      scope: { kind: 'session', session_id: SESSION },
    },
  ])
})

test('without a running session there is none to choose', async () => {
  await show([], {}, [{ state: 'dead' }])
  await press('rule-add')
  expect(options('rule-scope').map((option) => option.text())).toEqual([
    'one project',
    'everywhere',
  ])
})

test('a rule of a session that has ended keeps its session', async () => {
  await show([{ scope: { kind: 'session', session_id: 'ended' } }], {}, RUNNING)
  await press('rule-edit')
  expect(part('rule-session').element.value).toBe('ended')
  expect(options('rule-session')).toHaveLength(3)
})
