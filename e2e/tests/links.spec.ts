/** What an agent links to, shows pictures of or draws itself stays where it is. */
import type { Page } from '@playwright/test'

import { HostileSite } from '../fixtures/hostile-site.ts'
import type { Socket } from '../fixtures/socket.ts'
import { expect, test as base } from '../fixtures/test.ts'
import { Watch } from '../fixtures/watch.ts'

const test = base.extend<{ site: HostileSite }>({
  site: async ({}, use) => {
    const site = await HostileSite.start()
    await use(site)
    await site.stop()
  },
})

test.use({ command: 'demo' })
// Dozens of pages each; a machine that is short of processor time needs far more.
test.setTimeout(300_000)

async function start(socket: Socket, project: string, ...steps: object[]): Promise<string> {
  const started = await socket.request({
    type: 'start_session',
    agent: 'demo',
    cwd: project,
    prompt: JSON.stringify({ steps }),
  })
  expect(started.type).toBe('ack')
  return (started as unknown as { session_id: string }).session_id
}

test('links name their host and open apart, pictures are not loaded', async ({
  app,
  context,
  socket,
  folders,
  site,
}) => {
  site.pages.set('/page', '<!doctype html><title>Elsewhere</title>')
  const host = `127.0.0.1:${site.port}`
  const text = [
    `[the bank](http://${host}/page)`,
    `![a chart](http://${host}/picture.png)`,
    `[![both](http://${host}/inner.png)](http://${host}/outer)`,
    '[mail](mailto:thief@evil.example)',
    '[script](javascript:alert(1)) [data](data:text/html,x) [file](file:///etc/passwd)',
    `https://bank.example@evil.example/`,
  ].join('\n\n')
  const session = await start(socket, folders.project, { say: text })
  await app.visit(`/sessions/${session}`)
  await app.expectState('user_turn')
  const links = app.transcript.locator('.markdown a')
  const found = await links.evaluateAll((all) =>
    all.map((one) => [
      one.getAttribute('href'),
      one.getAttribute('target'),
      one.getAttribute('rel'),
    ]),
  )
  expect(
    found.filter(([, target, rel]) => target !== '_blank' || rel !== 'noreferrer noopener'),
  ).toEqual([])
  expect(new Set(found.map(([href]) => href))).toEqual(
    new Set([
      `http://${host}/page`,
      `http://${host}/picture.png`,
      `http://${host}/inner.png`,
      `http://${host}/outer`,
      'mailto:thief@evil.example',
      'https://bank.example@evil.example/',
    ]),
  )
  await expect(app.transcript).toContainText(`the bank (${host})`)
  await expect(app.transcript).toContainText(`Image: a chart (${host})`)
  await expect(app.transcript).toContainText('mail (thief@evil.example)')
  await expect(app.transcript).toContainText('bank.example@evil.example/ (evil.example)')
  await expect(app.transcript).toContainText('[script](javascript:alert(1))')
  await expect(app.transcript.locator('img')).toHaveCount(0)
  expect(site.asked, 'nothing is asked for before a click').toEqual([])

  const opening = context.waitForEvent('page')
  await links.first().click()
  const opened = await opening
  await opened.waitForLoadState()
  expect(await opened.evaluate(() => [window.opener, document.referrer])).toEqual([null, ''])
  await opened.close()
})

async function pause(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => setTimeout(done, 500)))
}

/** Documents that want out of their frame; what can be clicked covers all of it. */
function documents(there: string): Record<string, string> {
  const cover = 'style="position:fixed;inset:0;width:100%;height:100%;font-size:40px"'
  return {
    script: `<p>Look</p><script>parent.xss(); top.location = '${there}/script'; fetch('${there}/fetch'); open('${there}/open')</script>`,
    handlers: `<p>Look</p><img src=x onerror="parent.xss()"><svg onload="top.xss()"></svg><body onload="location='${there}/load'">`,
    refresh: `<p>Look</p><meta http-equiv="refresh" content="0;url=${there}/refresh">`,
    loads: `<div><style>@import '${there}/import'; *{background:url(${there}/css)} @font-face{font-family:a;src:url(${there}/font)} p{font-family:a}</style><link rel="stylesheet" href="${there}/sheet"><link rel="prefetch" href="${there}/prefetch"><img src="${there}/img"><iframe src="${there}/frame"></iframe><object data="${there}/object"></object><embed src="${there}/embed"><video src="${there}/video" autoplay></video><base href="${there}/"><p>Look</p></div>`,
    top: `<div><a href="${there}/top" target="_top" ${cover}>Look</a></div>`,
    popup: `<div><a href="${there}/popup" target="_blank" ${cover}>Look</a></div>`,
    scripted: `<div><a href="javascript:parent.xss()" ${cover}>Look</a></div>`,
    form: `<div><form action="${there}/form" target="_top" method="post"><button ${cover}>Look</button></form></div>`,
    self: `<div><a href="${there}/self" ${cover}>Look</a></div>`,
  }
}

test.describe('drawn by an agent', () => {
  // Refusing is what the policy is there for.
  test.use({ policyRefuses: true, viewport: { width: 1440, height: 1600 } })

  test('a page that an agent drew gets out of its frame in no way', async ({
    app,
    context,
    server,
    socket,
    folders,
    site,
  }) => {
    const watch = await Watch.over(context, server.origin)
    const all = Object.entries(documents(`http://127.0.0.1:${site.port}`))
    const drawn = all.map(([label, preview]) => ({ label, description: label, preview }))
    // The first one is looked at before anybody chooses.
    const options = [{ label: 'none', description: 'none' }, ...drawn]
    const question = { question: 'Which?', header: 'Look', multiSelect: false, options }
    const session = await start(socket, folders.project, { question: { questions: [question] } })
    const { pending_request: request } = await socket.next('request_opened')
    await app.visit(`/sessions/${session}`)
    const frame = app.inCard('option-preview').locator('iframe')
    for (const [index, [label]] of all.entries()) {
      const address = `/api/requests/${request.request_id}/preview/0/${index + 1}`
      const loaded = app.page.waitForResponse(`${server.origin}${address}`)
      await app.choose('Which?', label)
      await expect(frame).toHaveAttribute('src', address)
      await expect(frame).toHaveAttribute('sandbox', '')
      expect((await loaded).status(), label).toBe(200)
      // With the mouse alone: a navigation that is refused would be waited for.
      await frame.scrollIntoViewIfNeeded()
      const { x, y } = (await frame.boundingBox()) ?? { x: 0, y: 0 }
      // A frame takes clicks once it is drawn, which nothing tells.
      await pause(app.page)
      await app.page.mouse.click(x + 30, y + 30)
      const focused = () => app.page.evaluate(() => document.activeElement?.localName)
      await expect.poll(focused, `the click arrives in ${label}`).toBe('iframe')
      await pause(app.page)
      await expect(app.page, label).toHaveURL(`${server.origin}/sessions/${session}`)
    }
    expect(site.asked).toEqual([])
    expect(watch.problems.filter((problem) => !problem.includes('frame-src'))).toEqual([])

    // Nor does it gain anything by being opened as a page of its own.
    for (const [index, [label]] of all.slice(0, 4).entries()) {
      const own = `${server.origin}/api/requests/${request.request_id}/preview/0/${index + 1}`
      await app.page.goto(own)
      // Not in the page: nothing runs there, not even a timer.
      await new Promise((done) => setTimeout(done, 300))
      expect(app.page.url(), label).toBe(own)
    }
    expect(site.asked).toEqual([])
    expect(watch.problems.filter((problem) => !problem.includes('frame-src'))).toEqual([])
  })
})
