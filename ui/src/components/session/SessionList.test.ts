import { flushPromises, mount, type DOMWrapper, type VueWrapper } from '@vue/test-utils'
import { afterEach, expect, test, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'

import { RefusedError } from '../../connection/errors'
import type { PendingRequest, Session } from '../../protocol.gen'
import {
  makeAlert,
  makeRequest,
  makeSession,
  SESSION,
  startStores,
  type TestServer,
} from '../../testing/fixtures'
import SessionList from './SessionList.vue'

// jsdom has no layout, so a list that renders what is in view would be empty.
vi.mock('virtua/vue', () => ({
  VList: defineComponent({
    props: { data: { type: Array, required: true } },
    setup: (props, { slots, expose }) => {
      expose({ scrollToIndex: () => undefined })
      return () =>
        h(
          'div',
          props.data.map((item) => slots.default?.({ item })),
        )
    },
  }),
}))

const OTHER = '00000000-0000-4000-8000-000000000002'
let server: TestServer
let list: VueWrapper

// The menus measure themselves, which takes its time in jsdom.
vi.setConfig({ testTimeout: 20_000 })

async function show(sessions: Session[], pending_requests: PendingRequest[] = []): Promise<void> {
  server = startStores({ sessions, pending_requests })
  await mountList()
}

async function mountList(): Promise<void> {
  const page = { template: '<i />' }
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/', component: page },
      { path: '/new', name: 'new-session', component: page },
      { path: '/sessions/:sessionId', name: 'session', component: page },
    ],
  })
  list = mount(SessionList, { global: { plugins: [router] }, attachTo: document.body })
  await flushPromises()
}

afterEach(() => {
  list.unmount()
  localStorage.clear()
  document.body.innerHTML = ''
})

const all = (testid: string): DOMWrapper<Element>[] => list.findAll(`[data-testid="${testid}"]`)
const titles = (): string[] => list.findAll('.title').map((title) => title.text())

function press(key: string): void {
  const target = document.activeElement ?? document.body
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
}

async function choose(action: string): Promise<void> {
  await list.find('[data-testid="session-item-menu"]').trigger('click')
  await flushPromises()
  const item = document.querySelector<HTMLElement>(`[data-testid="${action}"]`)
  item?.click()
  await flushPromises()
}

test('a session that waits raises its hand, with a count when there are several', async () => {
  await show(
    [makeSession(), makeSession({ session_id: OTHER })],
    [
      makeRequest({ request_id: 'a' }),
      makeRequest({ request_id: 'b' }),
      makeRequest({ request_id: 'c', session_id: OTHER }),
    ],
  )
  const hands = all('session-waiting')
  expect(hands.map((hand) => hand.attributes('title'))).toEqual(
    Array(2).fill('Waiting for your response'),
  )
  expect(hands.map((hand) => hand.find('span:not(.visually-hidden)').exists())).toEqual([
    false,
    true,
  ])
})

test('a session where something ran unasked is marked, in a closed folder too', async () => {
  await show([makeSession({ alert: makeAlert() }), makeSession({ session_id: OTHER })])
  expect(all('session-unasked').map((mark) => mark.text())).toEqual([
    'Ran something without asking you',
  ])
  expect(all('folder-unasked')).toHaveLength(0)
  await all('folder-toggle')[0]!.trigger('click')
  expect([all('session-unasked').length, all('folder-unasked').length]).toEqual([0, 1])
})

test('a closed folder stays closed in the next page, and still says that it waits', async () => {
  await show([makeSession()], [makeRequest()])
  await all('folder-toggle')[0]!.trigger('click')
  list.unmount()
  await mountList()
  expect(titles()).toEqual([])
  expect(all('folder-toggle')[0]!.attributes('aria-expanded')).toBe('false')
  expect(all('folder-waiting')).toHaveLength(1)
})

test('a search that finds nothing says where it looked', async () => {
  await show([makeSession()])
  press('/')
  const field = list.find<HTMLInputElement>('[data-testid="session-search"]')
  expect(document.activeElement).toBe(field.element)
  await field.setValue('zebra')
  expect(all('session-search-empty')[0]!.text()).toContain('titles, folders and models')
  await field.trigger('keydown', { key: 'Escape' })
  expect(titles()).toEqual(['fix login'])
})

test('j and k move the focus through the sessions', async () => {
  await show([
    makeSession({ title: 'second' }),
    makeSession({ session_id: OTHER, title: 'first', started_at: '2026-02-02T03:04:05Z' }),
  ])
  const focused = (): string | undefined =>
    document.activeElement?.querySelector('.title')?.textContent
  const reached: (string | undefined)[] = []
  for (const key of ['j', 'j', 'j', 'k']) {
    press(key)
    await flushPromises()
    reached.push(focused())
  }
  expect(reached).toEqual(['first', 'second', 'second', 'first'])
})

test('a new title shows at once, and goes back when it is refused', async () => {
  await show([makeSession()])
  let refuse: (error: Error) => void = () => undefined
  server.answer = () => new Promise((_, reject) => (refuse = reject))
  await choose('rename-session')
  const field = list.find<HTMLInputElement>('[data-testid="rename-input"]')
  await field.setValue('  Better  ')
  await field.trigger('keydown', { key: 'Enter' })
  expect(server.asked).toEqual([{ type: 'rename_session', session_id: SESSION, title: 'Better' }])
  expect(titles()).toEqual(['Better'])
  refuse(new RefusedError({ code: 'store_unavailable', message: 'The disk is full.' }))
  await flushPromises()
  expect(titles()).toEqual(['fix login'])
})

test('Esc leaves the old title', async () => {
  await show([makeSession()])
  await choose('rename-session')
  const field = list.find<HTMLInputElement>('[data-testid="rename-input"]')
  await field.setValue('Worse')
  await field.trigger('keydown', { key: 'Escape' })
  expect(titles()).toEqual(['fix login'])
  expect(server.asked).toEqual([])
})

test('an archived session moves behind "Archived" and can be brought back', async () => {
  await show([makeSession()])
  await choose('archive-session')
  expect(titles()).toEqual([])
  await all('archived-toggle')[0]!.trigger('click')
  await choose('archive-session')
  expect(server.asked).toEqual([
    { type: 'archive_session', session_id: SESSION, archived: true },
    { type: 'archive_session', session_id: SESSION, archived: false },
  ])
  expect(all('archived-toggle')).toEqual([])
  expect(titles()).toEqual(['fix login'])
})
