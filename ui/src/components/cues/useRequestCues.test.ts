import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'

import { useCues } from '../../data/cues'
import { receive } from '../../data/receive'
import { makeOutcome, makeRequest, makeWelcome, SESSION, startStores } from '../../testing/fixtures'
import { playChime } from './chime'
import { useRequestCues } from './useRequestCues'

vi.mock('./chime', () => ({
  canPlay: () => true,
  playChime: vi.fn(() => Promise.resolve()),
  unlockOnGesture: () => () => undefined,
}))

const FIRST = '01a1e0d4-0000-7000-8000-00000000000a'
const SECOND = '01a1e0d4-0000-7000-8000-00000000000b'

/** The browser's side of notifications, as far as Sayso uses it. */
class TestNotification {
  static permission = 'granted'
  static all: TestNotification[] = []
  static fails = false
  readonly title: string
  readonly tag: string
  readonly options: NotificationOptions
  closed = false
  onclick: (() => void) | null = null

  constructor(title: string, options: NotificationOptions) {
    if (TestNotification.fails) throw new TypeError('Illegal constructor')
    this.title = title
    this.tag = options.tag ?? ''
    this.options = options
    TestNotification.all.push(this)
  }

  close(): void {
    this.closed = true
  }
}

let router: Router
let app: VueWrapper

beforeEach(async () => {
  startStores()
  TestNotification.all = []
  TestNotification.fails = false
  TestNotification.permission = 'granted'
  vi.mocked(playChime).mockClear()
  vi.stubGlobal('Notification', TestNotification)
  vi.stubGlobal('isSecureContext', true)
  window.focus = () => undefined
  look('hidden')
  const component = { template: '<i />', setup: () => useRequestCues() }
  router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/', component },
      { path: '/sessions/:sessionId', name: 'session', component: { template: '<i />' } },
    ],
  })
  await router.push('/')
  app = mount(component, { global: { plugins: [router] } })
})
afterEach(() => {
  app.unmount()
  vi.unstubAllGlobals()
})

function look(state: DocumentVisibilityState): void {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(state)
}

async function open(request_id: string): Promise<void> {
  const tool_input = { command: 'rm -rf /', description: 'Agent words' }
  receive({ type: 'request_opened', pending_request: makeRequest({ request_id, tool_input }) })
  await flushPromises()
}

test('nothing sounds or shows until it is wanted', async () => {
  await open(FIRST)
  expect([TestNotification.all, vi.mocked(playChime).mock.calls]).toEqual([[], []])
})

test('the sound plays for what arrives, not for what was waiting before', async () => {
  useCues().set('sound', true)
  await open(FIRST)
  await open(SECOND)
  expect(playChime).toHaveBeenCalledTimes(2)
  receive(makeWelcome({ pending_requests: [makeRequest({ request_id: SECOND })] }))
  await flushPromises()
  expect(playChime).toHaveBeenCalledTimes(2)
})

test('one of several tabs plays', async () => {
  const request = vi.fn((_name, _options, work: (lock: null) => unknown) => work(null))
  vi.stubGlobal('navigator', { locks: { request } })
  useCues().set('sound', true)
  await open(FIRST)
  expect(request.mock.calls[0]?.slice(0, 2)).toEqual(['sayso.chime', { ifAvailable: true }])
  expect(playChime).not.toHaveBeenCalled()
})

test('a hidden tab shows the session and the headline, not the agent’s words', async () => {
  useCues().set('notifications', true)
  await open(FIRST)
  const [notification] = TestNotification.all
  expect(notification?.title).toBe('Run a command')
  expect(notification?.options).toEqual({
    body: 'fix login',
    tag: `r${FIRST.replaceAll('-', '').slice(1)}`,
    icon: '/icon-192.png',
    badge: '/badge-96.png',
  })
  notification?.onclick?.()
  await flushPromises()
  expect(router.currentRoute.value.fullPath).toBe(`/sessions/${SESSION}?request=${FIRST}`)
})

test('a tab in view shows none, and neither does one that may not', async () => {
  useCues().set('notifications', true)
  look('visible')
  await open(FIRST)
  look('hidden')
  TestNotification.permission = 'denied'
  await open(SECOND)
  expect(TestNotification.all).toEqual([])
})

test('the notification goes when the request is closed', async () => {
  useCues().set('notifications', true)
  await open(FIRST)
  await open(SECOND)
  receive({
    type: 'request_closed',
    request_id: FIRST,
    session_id: SESSION,
    outcome: makeOutcome(),
  })
  await flushPromises()
  expect(TestNotification.all.map(({ closed }) => closed)).toEqual([true, false])
})

test('a browser that refuses to show them is remembered for the settings', async () => {
  useCues().set('notifications', true)
  TestNotification.fails = true
  await open(FIRST)
  expect(useCues().cannotNotify).toBe(true)
})
