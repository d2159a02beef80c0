import { flushPromises, mount, RouterLinkStub, type VueWrapper } from '@vue/test-utils'
import { afterEach, expect, test } from 'vitest'

import { RefusedError } from '../../connection/errors'
import { receive } from '../../data/receive'
import type { Ack, AgentRule, Session } from '../../protocol.gen'
import { makeSession, SESSION, startStores, type TestServer } from '../../testing/fixtures'
import AgentRuleList from './AgentRuleList.vue'

const OTHER = '00000000-0000-4000-8000-000000000002'
const RUNNING: Partial<Session>[] = [
  { state_changed_at: '2026-01-02T03:55:00Z' },
  { session_id: OTHER, title: 'docs', state_changed_at: '2026-01-02T03:50:00Z' },
]
let server: TestServer
let list: VueWrapper

afterEach(() => list.unmount())

async function show(rules: AgentRule[], sessions = RUNNING): Promise<void> {
  server = startStores({ sessions: sessions.map(makeSession) })
  server.answer = () => Promise.resolve({ data: { rules } })
  const global = { stubs: { RouterLink: RouterLinkStub } }
  list = mount(AgentRuleList, { global, attachTo: document.body })
  await flushPromises()
}

function rule(source: string, text: string, part: Partial<AgentRule> = {}): AgentRule {
  return { rule: text, effect: 'allow', source, handed_over: false, ...part }
}

const part = (id: string) => list.find<HTMLInputElement>(`[data-testid="${id}"]`)
const words = () => list.text().replace(/\s+/g, ' ')

test('the agent that did something last is asked, and its rules are shown by place', async () => {
  await show([
    rule('session', 'Bash(ls:*)'),
    rule('userSettings', 'Read(~/docs/**)'),
    rule('someNewPlace', 'Web\u202eFetch', { effect: 'ask' }),
    rule('flagSettings', 'Bash(rm:*)', { effect: 'deny', handed_over: true }),
    rule('userSettings', 'Bash(git:*)'),
  ])
  expect(server.asked).toEqual([{ type: 'list_agent_rules', session_id: SESSION }])
  expect(part('agent-rules-session').element.value).toBe(SESSION)
  expect(list.findAll('h3').map((title) => title.text().replace(/\s+/g, ' '))).toEqual([
    'Your settings 2',
    'Given by Sayso 1',
    'This session 1',
    'someNewPlace 1',
  ])
  const rows = list.findAll('[data-testid="agent-rule"]')
  expect(rows.map((row) => row.text().replace(/\s+/g, ' '))).toEqual([
    'AllowRead(~/docs/**)',
    'AllowBash(git:*)',
    'DenyBash(rm:*)from Sayso',
    'AllowBash(ls:*)',
    'AskWeb⟨U+202E⟩Fetch',
  ])
})

test('another session is asked when it is chosen, and again when wanted', async () => {
  await show([])
  expect(words()).toContain('This agent has no rules of its own.')
  await part('agent-rules-session').setValue(OTHER)
  await flushPromises()
  await part('agent-rules-refresh').trigger('click')
  expect(server.asked.slice(1)).toEqual(
    Array(2).fill({ type: 'list_agent_rules', session_id: OTHER }),
  )
})

test('a choice stays while others work, and goes when its agent ends', async () => {
  await show([])
  const state_changed_at = '2026-01-02T04:00:00Z'
  receive({
    type: 'session_state',
    session: makeSession({ session_id: OTHER, state_changed_at }),
  })
  await flushPromises()
  expect(server.asked).toHaveLength(1)
  receive({ type: 'session_state', session: makeSession({ state: 'dead' }) })
  await flushPromises()
  expect(server.asked.at(-1)).toEqual({ type: 'list_agent_rules', session_id: OTHER })
})

test('what goes wrong is said in place, and can be tried again', async () => {
  await show([rule('session', 'Bash')])
  const refusal = { code: 'agent_error' as const, message: 'The agent did not answer.' }
  server.answer = () => Promise.reject(new RefusedError(refusal))
  await part('agent-rules-session').setValue(OTHER)
  await flushPromises()
  expect(part('agent-rules-error').text()).toBe('The agent did not answer.')
  expect(part('agent-rule').exists()).toBe(false)
  server.answer = () => Promise.resolve({ data: undefined })
  await part('agent-rules-refresh').trigger('click')
  await flushPromises()
  expect(part('agent-rules-error').text()).toBe('The agent did not say which rules it has.')
})

test('an answer about a session that is not chosen any more is ignored', async () => {
  await show([])
  const answers: ((ack: Ack) => void)[] = []
  server.answer = () => new Promise((resolve) => answers.push(resolve))
  await part('agent-rules-session').setValue(OTHER)
  expect(words()).toContain('Asking the agent…')
  await part('agent-rules-session').setValue(SESSION)
  answers[1]?.({ data: { rules: [rule('session', 'New')] } })
  answers[0]?.({ data: { rules: [rule('session', 'Old')] } })
  await flushPromises()
  expect(list.findAll('[data-testid="agent-rule"]').map((row) => row.text())).toEqual(['AllowNew'])
})

test('without an agent that runs it says how to get one', async () => {
  await show([], [{ state: 'dead' }])
  expect(part('agent-rules-empty').text()).toContain('Start a session')
  expect(server.asked).toEqual([])
})
