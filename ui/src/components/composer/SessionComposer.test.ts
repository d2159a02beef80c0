import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { RefusedError } from '../../connection/errors'
import { useClock } from '../../data/clock'
import { useMessages } from '../../data/messages'
import { receive } from '../../data/receive'
import type { ClientMessage, QueuedMessage, Session } from '../../protocol.gen'
import {
  makeAgent,
  makeSession,
  SESSION,
  startStores,
  type TestServer,
} from '../../testing/fixtures'
import SessionComposer from './SessionComposer.vue'
import { CYCLE_PAUSE } from './useModes'

let server: TestServer
let composer: VueWrapper

beforeEach(() => {
  vi.useFakeTimers()
  const mode = (name: string, dangerous = false) => ({
    ...{ mode: name, label: name, description: `${name}.`, dangerous },
  })
  const permission_modes = [
    ...[mode('default'), mode('acceptEdits'), mode('plan'), mode('bypass', true)],
  ]
  server = startStores({ agents: [makeAgent({ permission_modes })] })
})
afterEach(() => {
  composer.unmount()
  document.body.replaceChildren()
  vi.useRealTimers()
})

async function show(part: Partial<Session> = {}, collapsed = false): Promise<void> {
  const session = makeSession({ state: 'user_turn', ...part })
  receive({ type: 'session_state', session })
  const main = document.body.appendChild(document.createElement('main'))
  composer = mount(SessionComposer, { props: { session, collapsed }, attachTo: main })
  await flushPromises()
}

const find = (id: string) => composer.find(`[data-testid="${id}"]`)
const field = () => composer.find<HTMLTextAreaElement>('[data-testid="composer-input"]')
const text = () => field().element.value

async function type(words: string): Promise<void> {
  field().element.focus()
  await field().setValue(words)
  await flushPromises()
}

async function press(key: string, more: KeyboardEventInit = {}): Promise<void> {
  await field().trigger('keydown', { key, ...more })
  await flushPromises()
}

async function queue(...texts: string[]): Promise<void> {
  const messages: QueuedMessage[] = texts.map((words) => ({
    message_id: words,
    content: [{ type: 'text', text: words }],
    at: '2026-01-02T03:04:05Z',
  }))
  receive({ type: 'queue', session_id: SESSION, messages })
  await flushPromises()
}

const refuse = (code: 'already_sent') => () =>
  Promise.reject(new RefusedError({ code, message: 'Read already.' }))

const sentTexts = () =>
  server
    .askedFor('send_message')
    .map((message) => (message as Extract<ClientMessage, { type: 'send_message' }>).content)

test('Enter sends; Shift, and a composition of characters, do not', async () => {
  await show()
  await type('Hello')
  await press('Enter', { shiftKey: true })
  await press('Enter', { isComposing: true })
  expect(sentTexts()).toEqual([])
  await press('Enter')
  expect(sentTexts()).toEqual([[{ type: 'text', text: 'Hello' }]])
  expect(text()).toBe('')
})

test('Stop takes the place of Send while there is nothing to send', async () => {
  await show({ state: 'assistant_turn' })
  expect([find('interrupt').exists(), find('composer-send').exists()]).toEqual([true, false])
  await type('More')
  expect([find('interrupt').exists(), find('composer-send').exists()]).toEqual([true, true])
})

test('Esc stops the agent only when nothing was typed, and never takes text', async () => {
  await show({ state: 'assistant_turn' })
  await type('Hello')
  await press('Escape')
  expect(server.askedFor('interrupt')).toEqual([])
  expect(text()).toBe('Hello')
  await type('')
  await press('Escape')
  expect(server.askedFor('interrupt')).toHaveLength(1)
})

test('the first Esc closes the list of commands', async () => {
  await show({ state: 'assistant_turn' })
  const commands = [{ name: 'review', description: 'Reviews.', argument_hint: '[what]' }]
  receive({ type: 'session_features', session_id: SESSION, commands, models: [] })
  await type('/re')
  expect(find('completion').exists()).toBe(true)
  await press('Escape')
  expect(find('completion').exists()).toBe(false)
  expect([text(), server.askedFor('interrupt')]).toEqual(['/re', []])
})

test('a command is completed, and says what it wants to hear', async () => {
  await show()
  const commands = [
    { name: 'compact', description: '', argument_hint: '' },
    { name: 'review', description: 'Reviews.', argument_hint: '[what]' },
  ]
  receive({ type: 'session_features', session_id: SESSION, commands, models: [] })
  await type('/')
  await press('ArrowDown')
  const active = field().attributes('aria-activedescendant') ?? ''
  expect(document.getElementById(active)?.dataset.value).toBe('review')
  await press('Enter')
  expect(text()).toBe('/review ')
  expect(composer.text()).toContain('Then: [what]')
  await type('/compact')
  await press('Enter')
  expect(sentTexts()).toEqual([[{ type: 'text', text: '/compact' }]])
})

test('a file is completed where the caret stands', async () => {
  const asked = vi.fn((_: string) =>
    Promise.resolve(Response.json({ files: [{ path: 'src/app.ts' }], truncated: false })),
  )
  vi.stubGlobal('fetch', asked)
  await show()
  await type('see @ap now')
  field().element.setSelectionRange(7, 7)
  await field().trigger('input')
  await vi.advanceTimersByTimeAsync(200)
  await flushPromises()
  expect(asked.mock.calls.at(-1)?.[0]).toContain('query=ap')
  await press('Tab')
  expect(text()).toBe('see @src/app.ts  now')
  vi.unstubAllGlobals()
})

test('the arrow keys bring earlier messages back', async () => {
  await show()
  const content = [{ type: 'text' as const, text: 'from the transcript' }]
  receive({
    ...{ type: 'transcript', session_id: SESSION },
    entries: [
      {
        ...{ seq: 1, at: '2026-01-02T03:04:05Z', kind: 'user_message', message_id: 'm' },
        ...{ content, queued: false },
      },
    ],
  })
  await type('sent here')
  await press('Enter')
  await press('ArrowUp')
  expect(text()).toBe('sent here')
  await press('ArrowUp')
  expect(text()).toBe('from the transcript')
  await press('ArrowDown')
  await press('ArrowDown')
  expect(text()).toBe('')
})

test('arrow up takes the newest queued message back before it goes through history', async () => {
  await show({ state: 'assistant_turn' })
  await queue('older', 'newer')
  await press('ArrowUp')
  expect(server.askedFor('remove_queued')).toMatchObject([{ message_id: 'newer' }])
  expect(text()).toBe('newer')
})

test('a queued message can be changed and removed', async () => {
  await show({ state: 'assistant_turn' })
  await queue('first', 'second')
  await find('queued-edit').trigger('click')
  await find('queued-input').setValue('first, changed')
  await find('queued-input').trigger('keydown', { key: 'Enter' })
  const content = [{ type: 'text', text: 'first, changed' }]
  expect(server.askedFor('edit_queued')).toMatchObject([{ message_id: 'first', content }])
  await find('queued-remove').trigger('click')
  expect(server.askedFor('remove_queued')).toMatchObject([{ message_id: 'first' }])
})

test.each<[string, () => Promise<void>]>([
  [
    'when it is saved too late',
    async () => {
      server.answer = refuse('already_sent')
      await find('queued-input').trigger('keydown', { key: 'Enter' })
      await flushPromises()
    },
  ],
  ['when it leaves the queue meanwhile', () => queue()],
])('new wording of a queued message is kept %s', async (_, happen) => {
  await show({ state: 'assistant_turn' })
  await queue('first')
  await find('queued-edit').trigger('click')
  await find('queued-input').setValue('better')
  await happen()
  expect(text()).toBe('better')
  expect(find('composer-note').text()).toContain('has read this message already')
})

test('Shift+Tab walks through the modes that ask, and only the last one counts', async () => {
  await show()
  await press('Tab', { shiftKey: true })
  await press('Tab', { shiftKey: true })
  expect(find('mode-select').attributes('data-mode')).toBe('plan')
  expect(composer.text()).toContain('Mode: plan.')
  expect(server.askedFor('set_permission_mode')).toEqual([])
  await vi.advanceTimersByTimeAsync(CYCLE_PAUSE)
  expect(server.askedFor('set_permission_mode')).toMatchObject([{ permission_mode: 'plan' }])
  await press('Tab', { shiftKey: true })
  expect(find('mode-select').attributes('data-mode')).toBe('acceptEdits')
})

test('a mode that was just chosen counts before the message goes out', async () => {
  await show()
  await type('Plan it')
  await press('Tab', { shiftKey: true })
  await press('Enter')
  expect(server.asked.map(({ type }) => type).slice(-2)).toEqual([
    'set_permission_mode',
    'send_message',
  ])
})

test('a file that is pasted goes with the message, unless the agent takes none', async () => {
  const clipboardData = { files: [new File(['abc'], 'a.txt')], types: ['Files'] }
  await show()
  await field().trigger('paste', { clipboardData })
  await vi.waitFor(() => expect(find('attachment').text()).toContain('a.txt'))
  await press('Enter')
  const document = { type: 'document', media_type: 'text/plain', data: 'abc', title: 'a.txt' }
  expect(sentTexts()).toEqual([[document]])

  const { capabilities } = makeAgent()
  receive({
    ...{ type: 'agents' },
    agents: [makeAgent({ capabilities: { ...capabilities, images: false } })],
  })
  await field().trigger('paste', { clipboardData })
  await flushPromises()
  expect(find('composer-error').text()).toBe('Claude Code takes no files, only text.')
  expect(find('attach').exists()).toBe(false)
})

test('while a request has its place, only the bar is left', async () => {
  await show({ state: 'assistant_turn' }, true)
  expect(field().exists()).toBe(false)
  expect([find('interrupt').exists(), find('mode-select').exists()]).toEqual([true, true])
  await find('composer-queue').trigger('click')
  expect(composer.emitted('expand')).toHaveLength(1)
})

test('an ended session remembers how it shall go on', async () => {
  await show({ state: 'dead' })
  await press('Tab', { shiftKey: true })
  await vi.advanceTimersByTimeAsync(CYCLE_PAUSE)
  expect(server.asked).toEqual([])
  expect(useMessages().choices.get(SESSION)).toEqual({ permission_mode: 'acceptEdits' })
})

test('a mode that asks nothing says when it ends, and counts', async () => {
  useClock().start()
  const bypass_until = new Date(Date.now() + 11.5 * 60_000).toISOString()
  await show({ permission_mode: 'bypass', bypass_until })
  expect(composer.text()).toContain('bypass: the agent asks for nothing in this mode.')
  expect(find('bypass-left').text()).toBe('It asks again in 12 min.')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(find('bypass-left').text()).toBe('It asks again in 11 min.')
})

test('a mode that asks nothing and does not end says nothing of an end', async () => {
  await show({ permission_mode: 'bypass' })
  expect(composer.text()).toContain('asks for nothing in this mode.')
  expect(find('bypass-left').exists()).toBe(false)
})
