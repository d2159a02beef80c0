import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { RefusedError } from '../../connection/errors'
import { receive } from '../../data/receive'
import { useRequests } from '../../data/requests'
import type { Decision, PendingRequest } from '../../protocol.gen'
import {
  makeAgent,
  makeOutcome,
  makeRequest,
  makeSession,
  startStores,
  type TestServer,
} from '../../testing/fixtures'
import RequestCard from './RequestCard.vue'

let server: TestServer
let card: VueWrapper

beforeEach(() => {
  vi.useFakeTimers()
  server = startStores()
})
afterEach(() => {
  card.unmount()
  // Lets go of every key.
  window.dispatchEvent(new Event('blur'))
  vi.useRealTimers()
})

/** A card for the request, past the first moment in which it takes no clicks. */
async function show(part: Partial<PendingRequest> = {}): Promise<void> {
  const request = makeRequest(part)
  receive({ type: 'request_opened', pending_request: request })
  const props = { request, session: makeSession(), position: 1, total: 1 }
  card = mount(RequestCard, { props, attachTo: document.body })
  // Nothing is laid out here, so nothing could have been in view.
  useRequests().markSeen(request.request_id)
  vi.advanceTimersByTime(550)
  await flushPromises()
}

const part = (id: string) => card.find<HTMLInputElement>(`[data-testid="${id}"]`)
const press = (id: string) => part(id).trigger('click')

function decided(): Decision[] {
  return server.asked.flatMap((message) => (message.type === 'respond' ? [message.decision] : []))
}

const EDIT = { file_path: '/a', old_string: 'x', new_string: 'y' }

test.each<[string, Partial<PendingRequest>, () => Promise<unknown>, Decision]>([
  ['allow', {}, () => press('allow'), { behavior: 'allow' }],
  ['deny and stop', {}, () => press('deny-stop'), { behavior: 'deny', interrupt: true }],
  [
    'deny with a reason',
    {},
    async () => {
      await press('deny')
      await part('deny-reason').setValue(' Use the other folder. ')
      await part('deny-reason').trigger('submit')
    },
    { behavior: 'deny', message: 'Use the other folder.' },
  ],
  [
    'deny without a reason',
    {},
    async () => {
      await press('deny')
      await part('deny-confirm').trigger('submit')
    },
    { behavior: 'deny' },
  ],
  [
    'an edit that changes nothing is a plain allow',
    { tool_name: 'Edit', tool_input: EDIT },
    async () => {
      await press('edit')
      await part('edit-allow').trigger('submit')
    },
    { behavior: 'allow' },
  ],
  [
    'approve a plan',
    { request_type: 'plan_approval', tool_name: 'ExitPlanMode', tool_input: { plan: '# Plan' } },
    () => press('allow'),
    { behavior: 'allow', permission_mode: 'default' },
  ],
  [
    'answer a question',
    {
      request_type: 'ask_user_question',
      tool_name: 'AskUserQuestion',
      tool_input: {
        questions: [{ question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] }],
      },
    },
    async () => {
      await card.find('[data-label="B"]').trigger('click')
      await part('answer-submit').trigger('submit')
    },
    { behavior: 'answer', answers: { 'Which?': 'B' } },
  ],
  [
    'submit a form',
    {
      request_type: 'elicitation',
      tool_input: { requested_schema: { properties: { n: { type: 'integer' } } } },
    },
    async () => {
      await card.find('[data-field="n"]').setValue('4')
      await part('elicit-submit').trigger('submit')
    },
    { behavior: 'submit', content: { n: 4 } },
  ],
  ['the key for allow', {}, () => card.trigger('keydown', { key: 'a' }), { behavior: 'allow' }],
  ['Enter on the card', {}, () => card.trigger('keydown', { key: 'Enter' }), { behavior: 'allow' }],
  [
    'allow and remember',
    {
      suggestions: [
        { type: 'addRules', rules: [{ toolName: 'Bash' }], behavior: 'allow' },
        { type: 'addDirectories', directories: ['/srv'], destination: 'session' },
      ],
    },
    async () => {
      await press('always-allow')
      expect(part('always-confirm').element.disabled).toBe(true)
      await card.find('[data-index="1"]').setValue(true)
      await part('always').trigger('submit')
    },
    { behavior: 'allow', remember: [1] },
  ],
  [
    'a risky one that was kept pressed',
    { destructive: true },
    async () => {
      await part('allow').trigger('pointerdown', { button: 0 })
      vi.advanceTimersByTime(1000)
    },
    { behavior: 'allow' },
  ],
  [
    'a number and Enter in a question',
    {
      request_type: 'ask_user_question',
      tool_input: {
        questions: [{ question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] }],
      },
    },
    async () => {
      await card.trigger('keydown', { key: '2' })
      await card.trigger('keydown', { key: 'Enter' })
    },
    { behavior: 'answer', answers: { 'Which?': 'B' } },
  ],
])('%s', async (_, request, act, decision) => {
  await show(request)
  await act()
  expect(decided()).toEqual([decision])
})

test.each<[string, Partial<PendingRequest>, () => Promise<unknown>]>([
  ['a key that repeats', {}, () => card.trigger('keydown', { key: 'a', repeat: true })],
  ['a key with a modifier', {}, () => card.trigger('keydown', { key: 'a', ctrlKey: true })],
  [
    'the key for allow on a risky card',
    { default_to_no: true },
    () => card.trigger('keydown', { key: 'a' }),
  ],
  [
    'a key in a field',
    {},
    async () => {
      await press('deny')
      await part('deny-reason').trigger('keydown', { key: 'a' })
    },
  ],
  [
    'a risky one that was only clicked',
    { destructive: true },
    async () => {
      await part('allow').trigger('pointerdown', { button: 0 })
      vi.advanceTimersByTime(300)
      await part('allow').trigger('pointerup')
      await press('allow')
      vi.advanceTimersByTime(2000)
    },
  ],
  [
    'a risky one that was opened for editing and only clicked',
    { destructive: true },
    async () => {
      await press('edit')
      await flushPromises()
      await press('edit-allow')
      await part('edit-allow').trigger('submit')
      vi.advanceTimersByTime(2000)
    },
  ],
  [
    'a key that repeats on a risky one',
    { default_to_no: true },
    async () => {
      await part('allow').trigger('keydown', { key: 'Enter', repeat: true })
      vi.advanceTimersByTime(2000)
    },
  ],
  ['Esc, which only asks for the reason', {}, () => card.trigger('keydown', { key: 'Escape' })],
])('%s decides nothing', async (_, request, act) => {
  await show(request)
  await act()
  expect(decided()).toEqual([])
})

test('a new card takes no clicks in its first moment', async () => {
  const request = makeRequest()
  useRequests().markSeen(request.request_id)
  card = mount(RequestCard, {
    props: { request, session: makeSession(), position: 1, total: 1 },
  })
  expect(part('allow').element.disabled).toBe(true)
  vi.advanceTimersByTime(400)
  await flushPromises()
  expect(part('allow').element.disabled).toBe(true)
  vi.advanceTimersByTime(150)
  await flushPromises()
  expect(part('allow').element.disabled).toBe(false)
})

test('nothing is allowed before all of it has been in view', async () => {
  const request = makeRequest()
  card = mount(RequestCard, {
    props: { request, session: makeSession(), position: 1, total: 1 },
    attachTo: document.body,
  })
  vi.advanceTimersByTime(550)
  await flushPromises()
  expect(part('allow').exists()).toBe(false)
  await card.trigger('keydown', { key: 'a' })
  expect(decided()).toEqual([])
  expect(part('deny').element.disabled).toBe(false)
})

test('nothing is allowed as edited before all of it has been in view', async () => {
  card = mount(RequestCard, {
    props: { request: makeRequest(), session: makeSession(), position: 1, total: 1 },
    attachTo: document.body,
  })
  vi.advanceTimersByTime(550)
  await flushPromises()
  await press('edit')
  await flushPromises()
  expect(part('edit-allow').element.disabled).toBe(true)
})

test('a key that stays down decides one request', async () => {
  await show({ request_id: 'one' })
  await card.trigger('keydown', { key: 'Enter', code: 'Enter' })
  card.unmount()
  await show({ request_id: 'two' })
  await press('allow')
  expect(decided()).toHaveLength(1)
  window.dispatchEvent(new KeyboardEvent('keyup', { code: 'Enter' }))
  await press('allow')
  expect(decided()).toHaveLength(2)
})

test('a decided card waits for the server and takes no second decision', async () => {
  await show()
  await press('allow')
  await press('deny-stop')
  expect(decided()).toHaveLength(1)
  expect(part('allow').element.disabled).toBe(true)
  expect(card.attributes('aria-busy')).toBe('true')
})

test('a refused decision says why and can be repeated', async () => {
  await show()
  const client = { client_id: 'phone', label: 'Pixel 8' }
  const refusal = {
    code: 'already_decided' as const,
    message: '',
    outcome: makeOutcome({ client }),
  }
  server.answer = () => Promise.reject(new RefusedError(refusal))
  await press('allow')
  await flushPromises()
  expect(part('request-error').text()).toBe('This was decided already: Allowed by you on Pixel 8.')
  expect(part('allow').element.disabled).toBe(false)
})

test('going back from a denial keeps its reason', async () => {
  await show()
  await press('deny')
  await part('deny-reason').setValue('because')
  await part('deny-reason').trigger('keydown', { key: 'Escape' })
  expect(part('deny-reason').exists()).toBe(false)
  await press('deny')
  expect(part('deny-reason').element.value).toBe('because')
})

test('the whole command is shown, with hidden characters visible', async () => {
  const command = `${'echo long; '.repeat(400)}rm \u202etxt`
  await show({ tool_input: { command } })
  expect(part('request-command').text()).toBe(command.replace('\u202e', '⟨U+202E⟩'))
})

test('what cannot be shown exactly cannot be allowed as it is', async () => {
  await show({ input_faithful: false })
  expect(part('allow').exists()).toBe(false)
  expect(part('request-unfaithful').text()).toContain('cannot be allowed as it is')
  await press('edit')
  await part('edit-allow').trigger('submit')
  await flushPromises()
  const tool_input = makeRequest().tool_input
  expect(decided()).toEqual([{ behavior: 'allow', updated_input: tool_input }])
})

test('a request of an unknown kind can only be refused', async () => {
  await show({ request_type: 'other', tool_name: 'something_new' })
  const buttons = ['allow', 'edit', 'deny', 'deny-stop'].filter((id) => part(id).exists())
  expect(buttons).toEqual(['deny', 'deny-stop'])
})

test('a card takes no focus by itself', async () => {
  const field = document.body.appendChild(document.createElement('textarea'))
  field.focus()
  await show({ default_to_no: true })
  expect(document.activeElement).toBe(field)
  field.remove()
})

test('what the agent cannot express is not offered', async () => {
  const none = { edit_input: false, deny_message: false, interrupt: false }
  const { capabilities } = makeAgent()
  server = startStores({ agents: [makeAgent({ capabilities: { ...capabilities, ...none } })] })
  await show()
  expect([part('edit').exists(), part('deny-stop').exists()]).toEqual([false, false])
  await press('deny')
  expect(decided()).toEqual([{ behavior: 'deny' }])
})

test('the countdown says what will happen, and nothing when nothing will', async () => {
  const deadline = new Date(Date.now() + 60_400).toISOString()
  await show({ deadline, on_timeout: 'deny_and_interrupt' })
  expect(part('request-countdown').text()).toBe('Denied and stopped by itself in 0:58')
  await card.setProps({ request: makeRequest({ held: true, remaining_seconds: 62 }) })
  expect(part('request-countdown').text()).toBe('Clock stopped at 1:00')
  await card.setProps({ request: makeRequest() })
  expect(part('request-countdown').exists()).toBe(false)
})
