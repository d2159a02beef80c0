import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { defineComponent, h } from 'vue'

import { useClock } from '../../data/clock'
import { receive } from '../../data/receive'
import type { Outcome, PendingRequest } from '../../protocol.gen'
import { makeOutcome, makeRequest, makeWelcome, SESSION, startStores } from '../../testing/fixtures'
import { useAnnouncement } from './useAnnouncement'

const PHONE = { client_id: 'phone', label: 'Pixel 8' }
let region: VueWrapper

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-01-02T03:04:05Z') })
  startStores()
  region = mount(
    defineComponent(() => {
      const announcement = useAnnouncement()
      return () => h('p', announcement.value)
    }),
  )
})
afterEach(() => {
  region.unmount()
  vi.useRealTimers()
})

function open(part: Partial<PendingRequest>): void {
  receive({ type: 'request_opened', pending_request: makeRequest(part) })
}

function close(request_id: string, outcome: Partial<Outcome>): void {
  const full = makeOutcome(outcome)
  receive({ type: 'request_closed', request_id, session_id: SESSION, outcome: full })
}

async function said(): Promise<string> {
  await flushPromises()
  return region.element.textContent ?? ''
}

test('a request that arrives is announced, also when the last one had the same words', async () => {
  open({ request_id: 'a' })
  expect(await said()).toBe('Waiting for you: Run a command. Session fix login.')
  open({ request_id: 'b' })
  expect(await said()).toBe('Waiting for you: Run a command. Session fix login.\u00a0')
})

test('several at once are counted', async () => {
  const pending_requests = ['a', 'b'].map((request_id) => makeRequest({ request_id }))
  receive(makeWelcome({ pending_requests }))
  expect(await said()).toBe(
    '2 requests are waiting for you. The newest: Run a command. Session fix login.',
  )
})

test('the last ten seconds are announced once', async () => {
  open({ request_id: 'a', deadline: '2026-01-02T03:05:05Z' })
  expect(await said()).toMatch(/^Waiting/)
  useClock().synchronise('2026-01-02T03:04:53Z')
  expect(await said()).toBe('The last ten seconds: Run a command. Session fix login.')
  useClock().synchronise('2026-01-02T03:04:55Z')
  expect(await said()).toBe('The last ten seconds: Run a command. Session fix login.')
})

test('what was decided elsewhere is announced, what was decided here is not', async () => {
  open({ request_id: 'a' })
  open({ request_id: 'b' })
  await said()
  close('a', {})
  expect(await said()).toMatch(/^2 requests are waiting/)
  close('b', { what: 'denied', client: PHONE })
  expect(await said()).toBe('Denied by you on Pixel 8: Run a command. Session fix login.')
})

test('sentences of one moment are said together', async () => {
  open({ request_id: 'a' })
  await said()
  close('a', { what: 'expired', by: 'timeout', client: null })
  open({ request_id: 'b', request_type: 'plan_approval', tool_name: 'ExitPlanMode' })
  const text = await said()
  expect(text).toContain('Waiting for you: Approve a plan. Session fix login.')
  expect(text).toContain('No answer in time: Run a command. Session fix login.')
})
