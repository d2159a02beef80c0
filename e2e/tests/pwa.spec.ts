/** Sayso as an app: its worker, what it keeps, what it says without its server, and how it is replaced. */
import type { Page } from '@playwright/test'

import { violations } from '../fixtures/axe.ts'
import { expect, test } from '../fixtures/test.ts'

test.use({ command: 'demo' })

const asks = (command: string) =>
  JSON.stringify({ steps: [{ tool: { name: 'Bash', input: { command } } }] })

/** Everything that the browser keeps for this page, by cache. */
function kept(): Promise<Record<string, string[]>> {
  const read = async (name: string) => {
    const requests = await (await caches.open(name)).keys()
    return [name, requests.map(({ url }) => new URL(url).pathname)] as const
  }
  return caches
    .keys()
    .then((names) => Promise.all(names.map(read)))
    .then((all) => Object.fromEntries(all))
}

/** The server's document seems to be another one than this page came with. */
async function pretendAnotherBuild(page: Page): Promise<void> {
  await page.route(`${new URL(page.url()).origin}/`, async (route) => {
    if (route.request().resourceType() !== 'fetch') return route.fallback()
    await route.fulfill({ body: '<script type="module" src="/assets/index-other.js"></script>' })
  })
}

const isReady = async () => void (await navigator.serviceWorker.ready)

test('the worker is served fresh, takes the page, and keeps the files of the app and nothing else', async ({
  app,
  server,
}) => {
  const { page } = app
  const script = await fetch(`${server.origin}/sw.js`)
  expect(script.headers.get('cache-control')).toBe('no-cache')
  expect(script.headers.get('content-type')).toContain('javascript')
  expect(script.headers.get('content-security-policy')).toContain("default-src 'none'")

  await page.evaluate(isReady)
  await page.reload()
  await app.expectConnected()
  const controller = await page.evaluate(() => navigator.serviceWorker.controller?.scriptURL)
  expect(controller).toBe(`${server.origin}/sw.js`)

  await app.startSession({ prompt: asks('echo a-secret-of-the-agent'), agent: 'demo' })
  await app.expectCard('Bash')
  await app.allow()
  await app.visit('/history')
  await app.visit('/settings/notifications')
  const caches = await page.evaluate(kept)
  expect(Object.keys(caches)).toEqual([expect.stringMatching(/^sayso-shell-[0-9a-f]{16}$/)])
  const files = Object.values(caches).flat()
  expect(files).toContain('/index.html')
  expect(files.filter((path) => !/^\/(assets\/[^/]+|[^/]+\.\w+)$/.test(path))).toEqual([])
})

test('without the server the app opens, says so, and comes back by itself', async ({
  app,
  server,
}) => {
  const { page } = app
  await page.evaluate(isReady)
  await app.startSession({ prompt: asks('touch waits.txt'), agent: 'demo' })
  await app.expectCard('Bash')
  await server.terminate()
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 })
    await page.reload()
    const offline = page.getByTestId('offline-page')
    await expect(offline).toContainText('Sayso cannot be reached')
    await expect(offline).toContainText('Nothing can be seen or decided')
    await expect(app.card).toHaveCount(0)
    expect(await violations(page)).toEqual([])
  }
  await server.startAgain()
  await app.expectConnected()
  await expect(page.getByTestId('offline-page')).toHaveCount(0)
  await expect(page).toHaveURL(/\/sessions\//)
})

test('a network that is away is said in the same way', async ({ app, context }) => {
  const { page } = app
  await page.evaluate(isReady)
  await context.setOffline(true)
  await page.goto(page.url())
  await expect(page.getByTestId('offline-page')).toBeVisible()
  await page.getByTestId('offline-retry').click()
  await expect(page.getByTestId('offline-page')).toBeVisible()
  await context.setOffline(false)
  await app.expectConnected()
})

test('what an earlier build kept is removed, and what others keep stays', async ({ app }) => {
  const { page } = app
  await page.evaluate(isReady)
  await page.evaluate(async () => {
    await caches.open('sayso-shell-0000000000000000')
    await caches.open('somebody-elses')
    await (await navigator.serviceWorker.ready).unregister()
  })
  await page.reload()
  await page.evaluate(isReady)
  const names = async () => Object.keys(await page.evaluate(kept)).sort()
  await expect
    .poll(names)
    .toEqual([expect.stringMatching(/^sayso-shell-(?!0{16})[0-9a-f]{16}$/), 'somebody-elses'])
})

test('a page of an earlier build says so when the server is replaced, and follows when it is told to', async ({
  app,
  server,
}) => {
  const { page } = app
  await page.evaluate(isReady)
  await server.restart()
  await app.expectConnected()
  await expect(page.getByTestId('update')).toHaveCount(0)
  await pretendAnotherBuild(page)
  await server.restart()
  await expect(page.getByTestId('update')).toContainText('Sayso was updated')
  await page.unrouteAll()
  await page.getByTestId('update-reload').click()
  await app.expectConnected()
  await expect(page.getByTestId('update')).toHaveCount(0)
})

test('an app that was opened without the server replaces itself when another build answers, once', async ({
  app,
  server,
}) => {
  const { page } = app
  await page.evaluate(isReady)
  await server.terminate()
  await page.reload()
  await expect(page.getByTestId('offline-page')).toBeVisible()
  await pretendAnotherBuild(page)
  const reloaded = page.waitForEvent('load')
  await server.startAgain()
  await reloaded
  await app.expectConnected()
  await expect(page.getByTestId('update')).toBeVisible()
})

test('the app can be installed: the manifest is whole, and the offer is taken when somebody wants it', async ({
  app,
  server,
}) => {
  const { page } = app
  const session = await page.context().newCDPSession(page)
  const { installabilityErrors } = await session.send('Page.getInstallabilityErrors')
  // Tests have a profile that keeps nothing, in which browsers install nothing.
  expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(['in-incognito'])
  const manifest = (await (await fetch(`${server.origin}/manifest.webmanifest`)).json()) as {
    icons: { src: string; sizes: string; type: string }[]
  }
  for (const { src, sizes, type } of manifest.icons.filter(({ sizes }) => sizes !== 'any')) {
    const answer = await fetch(`${server.origin}${src}`)
    expect(answer.headers.get('content-type')).toBe(type)
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`).toBe(sizes)
  }

  await app.visit('/settings')
  await expect(page.getByTestId('install')).toHaveCount(0)
  await page.evaluate(() => {
    const prompt = () => Promise.resolve(Object.assign(window, { prompted: true }))
    window.dispatchEvent(Object.assign(new Event('beforeinstallprompt'), { prompt }))
  })
  await page.getByTestId('install-go').click()
  await expect(page.getByTestId('install')).toHaveCount(0)
  expect(await page.evaluate(() => 'prompted' in window)).toBe(true)
})
