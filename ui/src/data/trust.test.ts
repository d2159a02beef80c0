import { flushPromises } from '@vue/test-utils'
import { beforeEach, expect, test } from 'vitest'

import { RefusedError } from '../connection/errors'
import type { ClientMessage } from '../protocol.gen'
import { SESSION, startStores, type TestServer } from '../testing/fixtures'
import { startWithTrust, useTrust } from './trust'

const SETTINGS = { cwd: '/srv/api', prompt: 'Hello' }
let server: TestServer
/** What the folder would run now, by its digest. */
let digest: string

beforeEach(() => {
  server = startStores()
  digest = 'one'
  server.answer = (message) =>
    accepts(message)
      ? Promise.resolve({ session_id: SESSION, data: undefined })
      : Promise.reject(
          new RefusedError({
            code: 'folder_not_trusted',
            message: 'This folder would run something by itself.',
            trust: { cwd: '/srv/api', digest, findings: [] },
          }),
        )
})

function accepts(message: ClientMessage): boolean {
  if (message.type !== 'start_session' || message.trust === undefined) return false
  return !message.trust || message.trust_digest === digest
}

function shown(): { digest: string; changed: boolean } | null {
  const { question } = useTrust()
  return question && { digest: question.findings.digest, changed: question.changed }
}

test('a folder that runs nothing by itself starts without a question', async () => {
  server.answer = () => Promise.resolve({ session_id: SESSION, data: undefined })
  expect(await startWithTrust(SETTINGS)).toBe(SESSION)
  expect(server.asked).toEqual([{ type: 'start_session', ...SETTINGS }])
})

test.each([
  ['trust', { trust: true, trust_digest: 'one' }],
  ['without', { trust: false }],
] as const)('the answer %j is sent with the same settings', async (answer, sent) => {
  const started = startWithTrust(SETTINGS)
  await flushPromises()
  useTrust().answer(answer)
  expect(await started).toBe(SESSION)
  expect(server.asked[1]).toEqual({ type: 'start_session', ...SETTINGS, ...sent })
  expect(shown()).toBeNull()
})

test('cancelling starts nothing', async () => {
  const started = startWithTrust(SETTINGS)
  await flushPromises()
  useTrust().answer('cancel')
  expect(await started).toBeNull()
  expect(server.asked).toHaveLength(1)
  expect(shown()).toBeNull()
})

test('a folder that changed meanwhile is shown again, and only the new state is trusted', async () => {
  const started = startWithTrust(SETTINGS)
  await flushPromises()
  expect(shown()).toEqual({ digest: 'one', changed: false })
  digest = 'two'
  useTrust().answer('trust')
  await flushPromises()
  expect(shown()).toEqual({ digest: 'two', changed: true })
  useTrust().answer('trust')
  expect(await started).toBe(SESSION)
  expect(server.asked.at(-1)).toMatchObject({ trust: true, trust_digest: 'two' })
})

test('any other refusal goes to whoever asked, and closes the question', async () => {
  const started = startWithTrust(SETTINGS)
  await flushPromises()
  const refusal = new RefusedError({ code: 'agent_unavailable', message: 'Not installed.' })
  server.answer = () => Promise.reject(refusal)
  useTrust().answer('without')
  await expect(started).rejects.toBe(refusal)
  expect(shown()).toBeNull()
})
