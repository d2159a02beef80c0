import { request as httpRequest } from 'node:http'

import WebSocket from 'ws'

import { type SaysoServer, TOKEN } from '../fixtures/server.ts'
import { expect, test } from '../fixtures/test.ts'

const BEARER = { authorization: `Bearer ${TOKEN}` }

type Headers = Record<string, string>

/** With the headers exactly as given: a browser's client would not let us lie about Host. */
function get(server: SaysoServer, path: string, headers: Headers): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${server.origin}${path}`, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.once('error', reject)
    sent.end()
  })
}

/** 101 when the socket opens, else the status of the refusal. */
function upgrade(server: SaysoServer, headers: Headers): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${server.origin.replace('http', 'ws')}/api/ws`, { headers })
    socket.once('open', () => {
      socket.terminate()
      resolve(101)
    })
    socket.once('unexpected-response', (sent, response) => {
      sent.destroy()
      resolve(response.statusCode ?? 0)
    })
    socket.once('error', reject)
  })
}

test('only the token opens the server, from its own pages and under its own name', async ({
  server,
}) => {
  const own = { origin: server.origin }
  const foreign = { origin: 'https://evil.example' }
  const renamed = { host: 'evil.example' }
  const cases: [string, Headers, number, number][] = [
    ['no token', {}, 401, 401],
    ['a wrong token', { authorization: 'Bearer wrong' }, 401, 401],
    ['the token', BEARER, 200, 101],
    ['the token from its own page', { ...BEARER, ...own }, 200, 101],
    ['the token from another page', { ...BEARER, ...foreign }, 403, 403],
    ['the token under another name', { ...BEARER, ...renamed }, 403, 403],
  ]
  for (const [name, headers, overHttp, overSocket] of cases) {
    const seen = [await get(server, '/api/requests', headers), await upgrade(server, headers)]
    expect.soft(seen, name).toEqual([overHttp, overSocket])
  }
  expect(await get(server, '/healthz', {})).toBe(200)
})

test('the token becomes a cookie and leaves the address bar', async ({ app, server, context }) => {
  expect(app.page.url()).not.toContain('token')
  const cookies = await context.cookies(server.origin)
  expect(cookies).toHaveLength(1)
  expect(cookies[0]).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
  expect(cookies[0]?.value).not.toContain(TOKEN)

  await app.page.goto(server.origin)
  await app.expectConnected()
})

test('who is not let in is told how to get in', async ({ page, server }) => {
  await page.goto(server.origin)
  await expect(page.getByTestId('unauthorized')).toContainText('sayso pair')
  await expect(page.getByTestId('new-session-start')).toHaveCount(0)
})
