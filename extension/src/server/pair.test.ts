import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { pair, signOut } from './pair'

const ADDRESS = 'http://127.0.0.1:7297'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** The answers of a server, one after the other. */
function answers(...bodies: [number, unknown][]) {
  const fetch = vi.spyOn(globalThis, 'fetch')
  for (const [status, body] of bodies) {
    fetch.mockResolvedValueOnce(new Response(JSON.stringify(body), { status }))
  }
  return fetch
}

function run(waits = vi.fn(), signal = new AbortController().signal) {
  return pair({ address: ADDRESS, secret: 's3cret', waits, signal })
}

test('while somebody has to confirm it, it asks again with its ticket', async () => {
  const fetch = answers(
    [202, { status: 'waiting', code: '493021', expires_at: '', ticket: 'place' }],
    [202, { status: 'waiting', code: '493021', expires_at: '' }],
    [200, { status: 'paired', token: 'id.secret' }],
  )
  const waits = vi.fn()
  const end = run(waits)
  await vi.advanceTimersByTimeAsync(2000)
  expect(await end).toEqual({ address: ADDRESS, token: 'id.secret' })
  expect(waits.mock.calls).toEqual([['493021'], ['493021']])
  expect(fetch.mock.calls.map(([, init]) => JSON.parse(String(init?.body)) as unknown)).toEqual([
    { secret: 's3cret' },
    { secret: 's3cret', ticket: 'place' },
    { secret: 's3cret', ticket: 'place' },
  ])
  expect(fetch.mock.calls.every(([, init]) => init?.credentials === 'omit')).toBe(true)
})

test.each([
  [410, { code: 'pairing_over', message: 'x' }, 'code', 'used already'],
  [401, { code: 'unauthorized', message: 'x' }, 'code', 'not known there'],
  [429, { code: 'too_many_attempts', message: 'x', retry_after_seconds: 7 }, 'code', '7 seconds'],
  [
    403,
    { code: 'forbidden', message: 'Add it to `allow_hosts`.' },
    'address',
    'Add it to “allow_hosts”.',
  ],
  [200, { status: 'refused' }, 'code', 'refused on the other device'],
  [200, { status: 'paired' }, 'address', 'too old'],
])('status %i %o is about the field %s', async (status, body, field, words) => {
  answers([status, body])
  expect(await run()).toEqual({ field, text: expect.stringContaining(words) })
})

test.each([
  ['nothing answers', () => Promise.reject(new TypeError('Failed to fetch'))],
  ['something else answers', () => Promise.resolve(new Response('<html>', { status: 404 }))],
])('when %s, it is the address', async (_, reply) => {
  vi.spyOn(globalThis, 'fetch').mockImplementationOnce(reply)
  expect(await run()).toMatchObject({ field: 'address', text: expect.stringContaining(ADDRESS) })
})

test('a server that forgot it already counts as told, one that is away does not', async () => {
  const server = { address: ADDRESS, token: 't' }
  answers([200, {}], [401, {}])
  expect([await signOut(server), await signOut(server)]).toEqual([true, true])
  vi.spyOn(globalThis, 'fetch').mockRejectedValueOnce(new TypeError('Failed to fetch'))
  expect(await signOut(server)).toBe(false)
})
