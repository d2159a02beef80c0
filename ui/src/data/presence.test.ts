import { expect, test, vi } from 'vitest'

import { makeWelcome, startStores } from '../testing/fixtures'
import { answerWelcome, watchPresence } from './presence'
import { useServer } from './server'

test('the server is told who can see the page: after each welcome, and when that changes', async () => {
  startStores()
  const ask = vi.fn(() => Promise.reject(new Error('offline')))
  useServer().attach({ ask, connect: () => undefined })
  const state = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('visible')
  watchPresence()
  answerWelcome(makeWelcome())
  state.mockReturnValue('hidden')
  document.dispatchEvent(new Event('visibilitychange'))
  answerWelcome({ type: 'agents', agents: [] })
  answerWelcome(makeWelcome())
  await Promise.resolve()
  const visible = ask.mock.calls.map((call: unknown[]) => call[0])
  expect(visible).toEqual([true, false, false].map((visible) => ({ type: 'presence', visible })))
})
