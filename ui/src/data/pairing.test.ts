import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { answerCalls, type Answers } from '../testing/devices'
import { startStores } from '../testing/fixtures'
import { usePairing } from './pairing'

const NOW = Date.parse('2026-01-02T04:00:00Z')
const WAITING = { status: 'waiting', code: '123456', expires_at: '2026-01-02T04:02:00Z' }
const LINK = { secret: 'secret', fingerprint: null }

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
  startStores()
})
afterEach(() => vi.useRealTimers())

function start(pair: Answers[string]) {
  const sent = answerCalls({ 'POST /api/pair': pair })
  return { sent, end: usePairing().start(LINK) }
}

test('a link that needs nobody lets in at once', async () => {
  const { sent, end } = start([[200, { status: 'paired' }]])
  expect(await end).toBe('paired')
  expect(sent.map(({ body }) => body)).toEqual([{ secret: 'secret' }])
})

test('while it waits it asks every second with the same secret, and then is in', async () => {
  const { sent, end } = start([
    [202, WAITING],
    [202, WAITING],
    [200, { status: 'paired' }],
  ])
  await vi.advanceTimersByTimeAsync(100)
  expect(usePairing().way).toEqual({
    kind: 'waiting',
    code: '123456',
    expiresAt: '2026-01-02T04:02:00Z',
  })
  await vi.advanceTimersByTimeAsync(2000)
  expect(await end).toBe('paired')
  expect(sent.map(({ body }) => body)).toEqual(Array(3).fill({ secret: 'secret' }))
})

const error = (code: string) => ({ code, message: 'words' })
test.each<[string, Answers[string], string]>([
  ['refused', [[200, { status: 'refused' }]], 'refused'],
  ['used or too old', [[410, error('pairing_over')]], 'over'],
  ['not known', [[401, error('unauthorized')]], 'unknown'],
  [
    'over while it waits',
    [
      [202, WAITING],
      [410, error('pairing_over')],
    ],
    'over',
  ],
])('a link that is %s ends there', async (_, pair, kind) => {
  const { sent, end } = start(pair)
  await vi.advanceTimersByTimeAsync(5000)
  expect(await end).toBe('not_paired')
  expect(usePairing().way).toEqual({ kind })
  const before = sent.length
  await vi.advanceTimersByTimeAsync(10_000)
  expect(sent).toHaveLength(before)
})

test('after too many tries it goes on by itself when the next one counts', async () => {
  const tooMany = { ...error('too_many_attempts'), retry_after_seconds: 30 }
  const { sent, end } = start([
    [429, tooMany],
    [200, { status: 'paired' }],
  ])
  await vi.advanceTimersByTimeAsync(29_000)
  expect(sent).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(2000)
  expect(await end).toBe('paired')
})

test('a network that is away for a moment loses no place; one that never was says so', async () => {
  const { end } = start([[202, WAITING]])
  await vi.advanceTimersByTimeAsync(100)
  answerCalls({})
  await vi.advanceTimersByTimeAsync(3000)
  expect(usePairing().way?.kind).toBe('waiting')
  answerCalls({ 'POST /api/pair': [[200, { status: 'paired' }]] })
  await vi.advanceTimersByTimeAsync(2000)
  expect(await end).toBe('paired')
  answerCalls({})
  expect(await usePairing().start(LINK)).toBe('not_paired')
  expect(usePairing().way).toEqual({ kind: 'unreachable' })
})

test('another link takes the place of the first', async () => {
  const { end } = start([[202, WAITING]])
  await vi.advanceTimersByTimeAsync(100)
  answerCalls({ 'POST /api/pair': [[200, { status: 'paired' }]] })
  expect(await usePairing().start({ secret: 'other', fingerprint: null })).toBe('paired')
  await vi.advanceTimersByTimeAsync(2000)
  expect(await end).toBe(null)
})
