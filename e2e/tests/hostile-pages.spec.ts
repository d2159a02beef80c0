/** What other pages in the browser of somebody who is signed in can do to Sayso: nothing. */
import type { Page } from '@playwright/test'

import { EVIL_HOST, EVIL_NAMES, HostileSite } from '../fixtures/hostile-site.ts'
import { launchOptions } from '../fixtures/programs.ts'
import { type SaysoServer, TOKEN } from '../fixtures/server.ts'
import { Socket } from '../fixtures/socket.ts'
import { expect, test as base } from '../fixtures/test.ts'
import { Watch } from '../fixtures/watch.ts'

const test = base.extend<{ site: HostileSite }>({
  site: async ({}, use) => {
    const site = await HostileSite.start()
    await use(site)
    await site.stop()
  },
})

test.use({ command: 'demo', launchOptions: launchOptions(...EVIL_NAMES) })
// Dozens of pages each; a machine that is short of processor time needs far more.
test.setTimeout(300_000)

const HTML = '<!doctype html><title>Another page</title><p>Look at this.</p>'
const QUESTION = {
  question: 'Which?',
  header: 'Look',
  multiSelect: false,
  options: [{ label: 'A', description: 'a', preview: '<p>Look</p>' }, { label: 'B' }],
}

/** A session that waits for two answers, one of them with a preview. */
async function startWaiting(socket: Socket, project: string): Promise<string[]> {
  const steps = [
    {
      together: [
        { tool: { name: 'Bash', input: { command: 'touch allowed.txt' } } },
        { question: { questions: [QUESTION] } },
      ],
    },
  ]
  await socket.request({
    type: 'start_session',
    agent: 'demo',
    cwd: project,
    prompt: JSON.stringify({ steps }),
  })
  const isOpen = (type: string) => (opened: { pending_request: { request_type: string } }) =>
    opened.pending_request.request_type === type
  const tool = await socket.next('request_opened', isOpen('tool_approval'))
  const question = await socket.next('request_opened', isOpen('ask_user_question'))
  return [tool.pending_request.request_id, question.pending_request.request_id]
}

/** What every client is told, without what differs from moment to moment. */
async function state(server: SaysoServer): Promise<unknown> {
  const socket = await Socket.connect(server)
  const { sessions, pending_requests } = await socket.next('welcome')
  socket.close()
  return {
    sessions: sessions.map(({ session_id, state }) => [session_id, state]),
    pending_requests,
  }
}

/** The statuses of all that a page gets, also of what its browser keeps from it. */
async function statuses(page: Page): Promise<number[]> {
  const seen: number[] = []
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  devtools.on('Network.responseReceivedExtraInfo', ({ statusCode }) => seen.push(statusCode))
  return seen
}

/** Tries a socket from within a page: whether it opened, and what came over it. */
async function trySocket(page: Page, url: string): Promise<string> {
  return await page.evaluate(
    (url) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(url)
        socket.onopen = () => resolve('opened')
        socket.onmessage = () => resolve('heard')
        socket.onerror = () => resolve('refused')
      }),
    url,
  )
}

test('a name that was made to lead here opens nothing', async ({ app, server, context, page }) => {
  await app.expectConnected()
  const renamed = server.origin.replace('127.0.0.1', EVIL_HOST)
  // Even with the cookie of somebody who is signed in, under that name.
  const [cookie] = await context.cookies(server.origin)
  await context.addCookies([{ name: cookie?.name ?? '', value: cookie?.value ?? '', url: renamed }])

  expect((await page.goto(`${renamed}/`))?.status()).toBe(403)
  expect((await page.goto(`${renamed}/?token=${TOKEN}`))?.status()).toBe(403)

  // The attacker's own page, from before its name changed.
  await page.route(`${renamed}/attack`, (route) =>
    route.fulfill({ body: HTML, contentType: 'text/html' }),
  )
  await page.goto(`${renamed}/attack`)
  const tried = await page.evaluate(async (token) => {
    const ask = async (path: string, init: RequestInit = {}) => (await fetch(path, init)).status
    const json = { 'content-type': 'application/json' }
    return [
      await ask('/'),
      await ask('/healthz'),
      await ask('/api/me'),
      await ask('/api/requests'),
      await ask('/api/requests', { headers: { authorization: `Bearer ${token}` } }),
      await ask('/api/sessions', { method: 'POST', headers: json, body: '{}' }),
    ]
  }, TOKEN)
  expect(tried).toEqual([403, 403, 403, 403, 403, 403])
  expect(await trySocket(page, `${renamed.replace('http', 'ws')}/api/ws`)).toBe('refused')
})

test('pages of others read nothing and change nothing', async ({
  app,
  server,
  socket,
  context,
  site,
  folders,
}) => {
  await app.expectConnected()
  const [tool] = await startWaiting(socket, folders.project)
  const { pending_request: request } = await socket.next(
    'request_opened',
    ({ pending_request }) => pending_request.request_id === tool,
  )
  const decision = { input_digest: request.input_digest, decision: { behavior: 'allow' } }
  const before = await state(server)
  const allow = `${server.origin}/api/requests/${tool}/decision`
  site.pages.set('/', HTML)

  for (const origin of site.origins()) {
    const other = await context.newPage()
    await other.goto(`${origin}/`)
    expect(await trySocket(other, `${server.origin.replace('http', 'ws')}/api/ws`), origin).toBe(
      'refused',
    )
    const seen = await statuses(other)
    const tried = await other.evaluate(
      async ([server, allow, body]) => {
        const ask = async (url: string, init: RequestInit): Promise<string> => {
          try {
            const response = await fetch(url, { credentials: 'include', ...init })
            return response.type === 'opaque' ? 'opaque' : await response.text()
          } catch {
            return 'refused'
          }
        }
        const post = (type: string, mode: RequestMode) =>
          ask(allow ?? '', {
            method: 'POST',
            mode,
            body: body ?? '',
            headers: { 'content-type': type },
          })
        const image = new Image()
        const loaded = new Promise<string>((resolve) => {
          image.onload = () => resolve('loaded')
          image.onerror = () => resolve('refused')
        })
        image.src = `${server}/api/requests`
        const script = document.createElement('script')
        const ran = new Promise<string>((resolve) => {
          script.onload = () => resolve('loaded')
          script.onerror = () => resolve('refused')
        })
        script.src = `${server}/api/requests`
        document.head.append(script)
        return {
          list: await ask(`${server}/api/requests`, {}),
          listUnseen: await ask(`${server}/api/requests`, { mode: 'no-cors' }),
          json: await post('application/json', 'cors'),
          text: await post('text/plain', 'cors'),
          textUnseen: await post('text/plain', 'no-cors'),
          form: await post('application/x-www-form-urlencoded', 'no-cors'),
          image: await loaded,
          script: await ran,
        }
      },
      [server.origin, allow, JSON.stringify(decision)],
    )
    const refused = Object.values(tried).filter((result) => result !== 'opaque')
    expect(new Set(refused), JSON.stringify(tried)).toEqual(new Set(['refused']))

    await other.evaluate(
      ([action, name]) => {
        const form = document.createElement('form')
        Object.assign(form, { method: 'post', enctype: 'text/plain', action })
        const field = document.createElement('input')
        Object.assign(field, { name: name?.slice(0, -1), value: '"}' })
        form.append(field)
        document.body.append(form)
        form.submit()
      },
      [allow, `${JSON.stringify(decision).slice(0, -1)},"x":""`],
    )
    await expect.poll(() => other.url()).toContain('/decision')
    expect(seen.length, 'requests that reached the server').toBeGreaterThanOrEqual(5)
    expect(seen.filter((status) => status < 400)).toEqual([])
    await other.close()
  }
  expect(await state(server)).toEqual(before)
})

test('pages of others keep nobody out with wrong tokens', async ({
  server,
  context,
  page,
  site,
}) => {
  site.pages.set('/', HTML)
  await page.goto(`${site.origins()[0]}/`)
  const seen = await statuses(page)
  await page.evaluate(async (server) => {
    const ask = (url: string) =>
      new Promise<void>((resolve) => {
        const image = new Image()
        image.onload = image.onerror = () => resolve()
        image.src = url
      })
    for (let number = 0; number < 80; number++) {
      await ask(`${server}/?token=wrong-${number}`)
      await ask(`${server}/compat/twicc/ws?token=wrong-${number}`)
    }
  }, server.origin)
  expect(
    seen.filter((status) => status === 303),
    'tries on a page',
  ).toHaveLength(80)
  expect(
    seen.filter((status) => status === 403),
    'tries on a socket',
  ).toHaveLength(80)
  const wrong = await fetch(`${server.origin}/api/me`, {
    headers: { authorization: 'Bearer wrong' },
  })
  expect(wrong.status, 'none of them was counted').toBe(401)
  await page.goto(server.link)
  await expect(page.getByTestId('connection-status')).toHaveAttribute('data-status', 'connected')
  expect(await context.cookies(server.origin)).toHaveLength(1)
})

test('no page of ours shows itself inside of another', async ({
  app,
  server,
  socket,
  context,
  site,
  folders,
}) => {
  await app.expectConnected()
  const [, question] = await startWaiting(socket, folders.project)
  const views = ['/', '/new', '/sessions', '/history', '/rules', '/settings', '/healthz']
  const preview = `/api/requests/${question}/preview/0/0`
  const framed = [...views, preview, '/api/requests'].map((path) => `${server.origin}${path}`)
  for (const origin of site.origins()) {
    const own = `${origin}/own`
    site.pages.set('/own', HTML)
    const frames = [own, ...framed].map((url) => `<iframe src="${url}"></iframe>`)
    const objects = framed.map((url) => `<object data="${url}"></object><embed src="${url}">`)
    site.pages.set('/', `${HTML}${frames.join('')}${objects.join('')}`)
    const other = await context.newPage()
    await other.goto(`${origin}/`)
    const shown = () => other.frames().map((frame) => frame.url())
    // The page's own frame shows that frames work here.
    await expect.poll(shown).toContain(own)
    expect(shown().filter((url) => url.startsWith(server.origin))).toEqual([])

    // Nor does a page that opened ours get hold of it.
    const opened = context.waitForEvent('page')
    await other.evaluate((url) => {
      const name = 'held'
      Object.assign(window, { [name]: window.open(url) })
    }, server.origin)
    const ours = await opened
    await ours.waitForLoadState()
    const reach = () =>
      other.evaluate(() => (window as unknown as { held: Window | null }).held?.closed ?? true)
    await expect.poll(reach).toBe(true)
    expect(await ours.evaluate(() => window.opener === null)).toBe(true)
    await ours.close()
    await other.close()
  }
})

test('the app speaks to its own server only, whatever an address says', async ({
  page,
  server,
  context,
  site,
}) => {
  await page.goto(server.url)
  const watch = await Watch.over(context, server.origin)
  const evil = `ws://127.0.0.1:${site.port}/api/ws`
  const names = ['gatewayUrl', 'gateway', 'ws', 'wsUrl', 'server', 'url', 'host', 'api', 'base']
  const query = names.map((name) => `${name}=${encodeURIComponent(evil)}`).join('&')
  const leads = ['next', 'redirect', 'return_to', 'returnUrl', 'continue', 'to']
  const addresses = [
    `/?${query}`,
    `/?${query}#${query}`,
    `/#server=${evil}`,
    `/settings?${query}`,
    ...leads.flatMap((name) => [
      `/?${name}=//${EVIL_HOST}:${site.port}/`,
      `/?${name}=javascript:xss()`,
      `/?token=${TOKEN}&${name}=http://${EVIL_HOST}:${site.port}/`,
    ]),
    `/sessions/javascript:alert(1)`,
    `/new?folder=javascript:xss()`,
  ]
  for (const address of addresses) {
    const sockets: string[] = []
    const note = (socket: { url: () => string }): void => void sockets.push(socket.url())
    page.on('websocket', note)
    await page.evaluate((name) => (window.name = name), JSON.stringify({ server: evil, ws: evil }))
    await page.goto(`${server.origin}${address}`)
    // An address that differs only behind its # would not be loaded anew.
    await page.reload()
    await expect(page.getByTestId('connection-status'), address).toHaveAttribute(
      'data-status',
      'connected',
    )
    await page.evaluate((server) => {
      for (const type of ['connect', 'config', 'server', 'navigate', 'respond'])
        postMessage({ type, server, url: server, gatewayUrl: server, href: server }, '*')
      return new Promise((done) => setTimeout(done, 50))
    }, evil)
    page.off('websocket', note)
    expect.soft(new URL(page.url()).origin, address).toBe(server.origin)
    expect
      .soft([...new Set(sockets)], address)
      .toEqual([`${server.origin.replace('http', 'ws')}/api/ws`])
  }
  for (const path of [`/%5C${EVIL_HOST}:${site.port}/`, `//${EVIL_HOST}:${site.port}/`]) {
    await page.goto(`${server.origin}${path}?token=${TOKEN}`)
    expect.soft(new URL(page.url()).origin, path).toBe(server.origin)
  }
  expect(watch.problems).toEqual([])
  expect(site.asked).toEqual([])
})
