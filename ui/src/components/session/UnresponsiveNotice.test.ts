import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { RefusedError } from '../../connection/errors'
import { useToasts } from '../../data/toasts'
import type { Unresponsive } from '../../protocol.gen'
import { installBrowser } from '../../testing/browser'
import { makeSession, SESSION, startStores, type TestServer } from '../../testing/fixtures'
import UnresponsiveNotice from './UnresponsiveNotice.vue'

installBrowser()

let server: TestServer
let notice: VueWrapper

beforeEach(() => {
  server = startStores()
  server.asked.length = 0
})
afterEach(() => notice.unmount())

function show(seconds: number | null): void {
  const at = (ahead: number): string => new Date(Date.now() + ahead * 1000).toISOString()
  const ends_at = seconds === null ? null : at(seconds)
  const unresponsive: Unresponsive = { since: at(-1), ends_at }
  const session = makeSession({ error: 'The agent does not read.', unresponsive })
  notice = mount(UnresponsiveNotice, { props: { session, unresponsive } })
}

const button = () => notice.find<HTMLButtonElement>('[data-testid="end-and-resume"]')

test.each([
  [8.5, 'The agent does not read. If it stays so, it is ended in 9 s.'],
  [-1, 'The agent does not read. It is being ended…'],
  [null, 'The agent does not read.'],
])('says what is wrong and what follows in %s seconds', (seconds, expected) => {
  show(seconds)
  expect(notice.find('.words').text()).toBe(expected)
})

test('one press ends the agent and takes up its turn', async () => {
  server.answer = () => Promise.resolve({ session_id: SESSION, data: undefined })
  show(8)
  await button().trigger('click')
  expect(button().element.disabled).toBe(true)
  expect(server.asked).toEqual([
    { type: 'start_session', cwd: '/srv/api', resume: SESSION, ask_again: true },
  ])
  await flushPromises()
  expect(button().element.disabled).toBe(false)
})

test('a refusal is told', async () => {
  const refusal = new RefusedError({ code: 'invalid_message', message: 'It still runs.' })
  server.answer = () => Promise.reject(refusal)
  show(8)
  await button().trigger('click')
  await flushPromises()
  expect(useToasts().toasts.map((toast) => toast.text)).toEqual(['It still runs.'])
})
