import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'

import { RefusedError } from '../../connection/errors'
import { receive } from '../../data/receive'
import { useRequests } from '../../data/requests'
import type { PendingRequest } from '../../protocol.gen'
import { installBrowser } from '../../testing/browser'
import {
  makeAlert,
  makeOutcome,
  makeRequest,
  makeSession,
  SESSION,
  startStores,
  type TestServer,
} from '../../testing/fixtures'
import InboxPage from './InboxPage.vue'

installBrowser()
vi.stubGlobal('CSS', { escape: (text: string) => text })

// The cards come with all their forms, which takes its time in jsdom.
vi.setConfig({ testTimeout: 20_000 })

const OTHER = '00000000-0000-4000-8000-000000000002'
let server: TestServer
let router: Router
let page: VueWrapper

async function show(requests: Partial<PendingRequest>[], sessions = [makeSession()]) {
  const pending_requests = requests.map((part, age) =>
    makeRequest({ created_at: `2026-01-02T03:04:0${age}Z`, ...part }),
  )
  server = startStores({ sessions, pending_requests })
  const component = { template: '<i />' }
  router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/', name: 'inbox', component },
      { path: '/new', name: 'new-session', component },
      { path: '/sessions/:sessionId', name: 'session', component },
    ],
  })
  await router.push('/')
  page = mount(InboxPage, { global: { plugins: [router] }, attachTo: document.body })
  await vi.dynamicImportSettled()
  await pause()
}

/** Past the moment in which new cards and bars take no clicks. */
async function pause(): Promise<void> {
  await vi.advanceTimersByTimeAsync(600)
  await flushPromises()
}

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  page.unmount()
  vi.useRealTimers()
})

const part = (id: string) => page.find(`[data-testid="${id}"]`)
const items = () => page.findAll('[data-testid="inbox-item"]')
const item = (id: string) => page.find(`[data-testid="inbox-item"][data-request-id="${id}"]`)
const shown = () => part('request-card').attributes('data-request-id')
const mark = (id: string) => item(id).find('[data-testid="inbox-select"]').trigger('change')

async function press(key: string, init: KeyboardEventInit = {}): Promise<boolean> {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...init })
  const taken = !(document.activeElement ?? document.body).dispatchEvent(event)
  window.dispatchEvent(new KeyboardEvent('keyup', { key }))
  await flushPromises()
  return taken
}

const focusedRow = () =>
  document.activeElement?.closest<HTMLElement>('[data-testid="inbox-item"]')?.dataset.requestId
const inCard = () => document.activeElement?.closest('[data-testid="request-card"]') != null

async function close(request_id: string, session_id = SESSION): Promise<void> {
  receive({ type: 'request_closed', request_id, session_id, outcome: makeOutcome() })
  await flushPromises()
}

const decided = () =>
  server.asked.flatMap((message) =>
    message.type === 'respond' ? [`${message.request_id} ${message.decision.behavior}`] : [],
  )

const THREE = [{ request_id: 'a' }, { request_id: 'b' }, { request_id: 'c' }]

test('shows all sessions, and the whole card of the first', async () => {
  const sessions = [makeSession(), makeSession({ session_id: OTHER, title: 'docs' })]
  await show([{ request_id: 'a' }, { request_id: 'b', session_id: OTHER }], sessions)
  expect(items().map((row) => row.attributes('data-request-id'))).toEqual(['a', 'b'])
  expect([shown(), part('request-position').text()]).toEqual(['a', '1 of 2'])
  await item('b').find('a').trigger('click')
  expect([shown(), router.currentRoute.value.name]).toEqual(['b', 'inbox'])
  await part('request-previous').trigger('click')
  await flushPromises()
  expect(shown()).toBe('a')
})

test('keys move through the list and decide nothing', async () => {
  await show(THREE)
  await press('j')
  expect([shown(), focusedRow()]).toEqual(['b', 'b'])
  await press('ArrowDown')
  await press('j')
  expect(shown()).toBe('c')
  await press('k')
  await press('ArrowUp')
  expect([shown(), focusedRow(), decided()]).toEqual(['a', 'a', []])
})

test.each(['Enter', 'o'])('%s goes into the card, and j moves on from there', async (key) => {
  await show(THREE)
  expect(await press(key)).toBe(true)
  expect([inCard(), decided()]).toEqual([true, []])
  await press('j')
  expect([shown(), inCard(), decided()]).toEqual(['b', true, []])
})

test('an Enter that is held goes into the card and presses nothing there', async () => {
  await show([{ request_id: 'a', default_to_no: true }])
  await press('Enter')
  expect(await press('Enter', { repeat: true })).toBe(true)
  expect(decided()).toEqual([])
})

test('keys are text where somebody types', async () => {
  await show(THREE)
  await part('deny').trigger('click')
  await flushPromises()
  document.querySelector<HTMLElement>('[data-testid="deny-reason"]')?.focus()
  expect([await press('j'), await press('x'), shown()]).toEqual([false, false, 'a'])
})

test('keys in the rail are not the inbox’s', async () => {
  await show(THREE)
  const rail = document.body.appendChild(document.createElement('button'))
  rail.focus()
  expect([await press('j'), shown()]).toEqual([false, 'a'])
  rail.remove()
})

test('a group: each is decided on its own, and only what was read is allowed', async () => {
  await show([...THREE, { request_id: 'd', request_type: 'ask_user_question' }])
  useRequests().markSeen('a')
  useRequests().markSeen('b')
  await press('x')
  for (const id of ['b', 'c', 'd']) await mark(id)
  await pause()
  expect(part('inbox-group').text()).toContain('4 selected')
  expect(part('inbox-group-left-out').text()).toBe('1 not read yet, 1 needs its own answer')
  server.answer = (message) =>
    message.type === 'respond' && message.request_id === 'b'
      ? Promise.reject(new RefusedError({ code: 'overloaded', message: 'Too much at once.' }))
      : Promise.resolve({ data: undefined })
  expect(part('inbox-group-allow').text()).toBe('Allow 2')
  await part('inbox-group-allow').trigger('click')
  await flushPromises()
  expect(decided()).toEqual(['a allow', 'b allow'])
  expect(item('a').find('[data-testid="inbox-sent"]').exists()).toBe(true)
  expect(item('b').find('[data-testid="inbox-error"]').text()).toBe('Too much at once.')
  await close('a')
  expect(item('a').find('[data-testid="inbox-outcome"]').text()).toBe('Allowed by you')
  await part('inbox-group-deny').trigger('click')
  expect(decided().slice(2)).toEqual(['b deny', 'c deny', 'd deny'])
})

test('the bar takes no click in its first moment, and Shift+X puts it away', async () => {
  await show(THREE)
  await press('x')
  await part('inbox-group-deny').trigger('click')
  expect(decided()).toEqual([])
  await press('X', { shiftKey: true })
  expect(part('inbox-group').exists()).toBe(false)
})

test('what closes says how for a breath, and the next one takes its place', async () => {
  await show(THREE)
  await press('j')
  await close('b')
  expect(items().map((row) => row.attributes('data-outcome') ?? 'waits')).toEqual([
    'waits',
    'allowed',
    'waits',
  ])
  expect(shown()).toBe('c')
  await vi.advanceTimersByTimeAsync(5000)
  expect(items()).toHaveLength(2)
})

test('says when nothing waits', async () => {
  await show([{ request_id: 'a' }])
  expect(part('inbox-empty').exists()).toBe(false)
  await close('a')
  expect([items().length, part('inbox-empty').exists()]).toEqual([1, true])
  await vi.advanceTimersByTimeAsync(5000)
  expect(page.text()).toContain('Nothing is waiting. Your agents ask here before they act.')
  expect(items()).toHaveLength(0)
})

test('without rows the keys are left to others', async () => {
  await show([])
  expect(await press('j')).toBe(false)
})

test('without a session there is the way to a first one', async () => {
  await show([], [])
  expect([part('inbox-empty').exists(), page.text()]).toEqual([
    false,
    expect.stringContaining('No session yet'),
  ])
})

/** A screen of which these media queries are true. */
function stubScreen(isTrue: (query: string) => boolean): void {
  vi.stubGlobal('matchMedia', (query: string) => ({
    matches: isTrue(query),
    addEventListener: () => {},
    removeEventListener: () => {},
  }))
}

test('where a card has no room a tap opens the session at the request', async () => {
  stubScreen(() => false)
  await show(THREE)
  expect(part('request-card').exists()).toBe(false)
  await item('b').find('a').trigger('click')
  await flushPromises()
  expect(router.currentRoute.value.fullPath).toBe(`/sessions/${SESSION}?request=b`)
  vi.stubGlobal('matchMedia', undefined)
})

test('on a phone the card lies over the list, and makes room for what is done with several', async () => {
  stubScreen((query) => query.includes('max-width'))
  await show(THREE)
  expect(shown()).toBe('a')
  await item('b').find('a').trigger('click')
  await flushPromises()
  expect([shown(), router.currentRoute.value.fullPath]).toEqual(['b', '/'])
  await mark('a')
  expect([part('request-card').exists(), part('inbox-group').exists()]).toEqual([false, true])
  await mark('a')
  await vi.dynamicImportSettled()
  await pause()
  expect([shown(), part('inbox-group').exists()]).toEqual(['b', false])
  vi.stubGlobal('matchMedia', undefined)
})

test.each([
  ['nothing waits', []],
  ['something waits', [{}]],
])('what ran unasked leads to its session when %s', async (_, requests) => {
  await show(requests, [makeSession({ alert: makeAlert() })])
  const line = page.find('[data-testid="inbox-unasked"]')
  expect(line.text()).toContain('Claude Code ran Bash without asking you')
  expect(line.attributes('href')).toBe(`/sessions/${SESSION}`)
})
