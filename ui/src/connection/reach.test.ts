import { afterEach, expect, test, vi } from 'vitest'

import { call, isOwnPage, reachBy, serverAddress } from './reach'

const OWN = { address: '', token: null }

afterEach(() => reachBy(OWN))

function watchFetch() {
  return vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('{}'))
}

test("a page of the server's own asks as it always did", async () => {
  const fetch = watchFetch()
  await call('/api/me', { cache: 'no-store' })
  expect(fetch.mock.calls).toEqual([['/api/me', { cache: 'no-store' }]])
  expect([isOwnPage(), serverAddress()]).toEqual([true, window.location.origin])
})

test('a page from elsewhere names the address, shows its token and sends no cookie', async () => {
  const fetch = watchFetch()
  reachBy({ address: 'http://127.0.0.1:7297', token: 'secret' })
  await call('/api/prove', { method: 'POST', headers: { 'Content-Type': 'application/json' } })
  const [address, init] = fetch.mock.calls[0] ?? []
  const headers = new Headers(init?.headers)
  expect([address, init?.method, init?.credentials]).toEqual([
    'http://127.0.0.1:7297/api/prove',
    'POST',
    'omit',
  ])
  expect(Object.fromEntries(headers)).toEqual({
    authorization: 'Bearer secret',
    'content-type': 'application/json',
  })
  expect([isOwnPage(), serverAddress()]).toEqual([false, 'http://127.0.0.1:7297'])
})
