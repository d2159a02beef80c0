import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { receive } from '../../data/receive'
import { makeOutcome, makeRequest, makeSession, SESSION, startStores } from '../../testing/fixtures'
import RequestQueue from './RequestQueue.vue'

let queue: VueWrapper

beforeEach(() => {
  vi.useFakeTimers()
  startStores()
  for (const id of ['a', 'b', 'c']) open(id)
  open('elsewhere', 'another session')
  queue = mount(RequestQueue, { props: { session: makeSession(), first: null } })
})
afterEach(() => {
  queue.unmount()
  vi.useRealTimers()
})

function open(request_id: string, session_id = SESSION): void {
  receive({ type: 'request_opened', pending_request: makeRequest({ request_id, session_id }) })
}

async function close(request_id: string): Promise<void> {
  receive({ type: 'request_closed', request_id, session_id: SESSION, outcome: makeOutcome() })
  await flushPromises()
}

/** `b, 2 of 3`; the position is absent when only one waits. */
function shown(): string {
  const card = queue.find('[data-testid="request-card"]')
  if (!card.exists()) return 'nothing'
  const position = queue.find('[data-testid="request-position"]')
  return `${card.attributes('data-request-id')}, ${position.exists() ? position.text() : 'alone'}`
}

const go = (where: 'next' | 'previous') =>
  queue.find(`[data-testid="request-${where}"]`).trigger('click')

test('walks through the requests of the session in their order', async () => {
  expect(shown()).toBe('a, 1 of 3')
  await go('next')
  await go('next')
  expect(shown()).toBe('c, 3 of 3')
  await go('previous')
  expect(shown()).toBe('b, 2 of 3')
})

test('the card in view stays while others come and go', async () => {
  await go('next')
  await close('a')
  expect(shown()).toBe('b, 1 of 2')
  open('d')
  await flushPromises()
  expect(shown()).toBe('b, 1 of 3')
})

test('a card that closes makes room for the next, and says how it ended for a breath', async () => {
  await close('a')
  expect(shown()).toBe('b, 1 of 2')
  expect(queue.find('[data-testid="request-outcome"]').text()).toContain('Allowed by you')
  vi.advanceTimersByTime(5000)
  await flushPromises()
  expect(queue.find('[data-testid="request-outcome"]').exists()).toBe(false)
  await close('b')
  expect(shown()).toBe('c, alone')
  await close('c')
  expect(shown()).toBe('nothing')
})

test('looking at another card loses nothing that was typed', async () => {
  vi.advanceTimersByTime(550)
  await flushPromises()
  await queue.find('[data-testid="deny"]').trigger('click')
  await queue.find('[data-testid="deny-reason"]').setValue('because')
  await go('next')
  await go('previous')
  const reason = queue.find<HTMLInputElement>('[data-testid="deny-reason"]')
  expect(reason.element.value).toBe('because')
})

test('begins with the request that a link named', async () => {
  await queue.setProps({ first: 'c' })
  expect(shown()).toBe('c, 3 of 3')
  await queue.setProps({ first: 'gone' })
  expect(shown()).toBe('a, 1 of 3')
})
