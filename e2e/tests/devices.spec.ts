/** Who may come in, what each of them may do, and the password before what weighs most. */
import type { Browser, Page } from '@playwright/test'

import { App } from '../fixtures/app.ts'
import { violations } from '../fixtures/axe.ts'
import { noteSecrets, secretOf } from '../fixtures/secrets.ts'
import type { SaysoServer } from '../fixtures/server.ts'
import { expect, test } from '../fixtures/test.ts'

const PASSWORD = 'correct horse battery'

test.use({ command: 'demo' })

/** A script for the demo agent: it asks to run these commands, one after the other. */
const asks = (...commands: string[]) =>
  JSON.stringify({
    steps: commands.map((command) => ({ tool: { name: 'Bash', input: { command } } })),
  })

type Preset = 'full' | 'approve' | 'view'

/** Makes a link on the Devices page, and gives its address. */
async function makeLink(app: App, preset: Preset): Promise<string> {
  await app.visit('/devices')
  await app.page.getByTestId('pair-open').click()
  await app.page.locator(`[data-testid="scope-preset"][data-preset="${preset}"]`).click()
  await app.page.getByTestId('pair-make').click()
  await expect(app.page.getByTestId('qr')).toBeVisible()
  return app.page.getByTestId('pair-url').innerText()
}

/** A browser with nothing of the first one's. */
async function elsewhere(browser: Browser, server: SaysoServer): Promise<App> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
  noteSecrets(context, server.secrets)
  return new App(await context.newPage(), server)
}

/** Lets a second browser in, confirmed in the first. */
async function pair(app: App, browser: Browser, server: SaysoServer, preset: Preset): Promise<App> {
  const link = await makeLink(app, preset)
  const other = await elsewhere(browser, server)
  await other.page.goto(link)
  await expect(app.page.getByTestId('claim')).toBeVisible()
  await app.page.getByTestId('claim-name').fill('Test phone')
  await app.page.getByTestId('claim-allow').click()
  await other.expectConnected()
  await app.page.getByTestId('pair-done').click()
  return other
}

const device = (page: Page, name: string) =>
  page.getByTestId('device').filter({ has: page.getByText(name, { exact: true }) })

async function setPassword(app: App): Promise<void> {
  await app.visit('/devices')
  await app.page.getByTestId('password-set').click()
  await app.page.getByTestId('password-new').fill(PASSWORD)
  await app.page.getByTestId('password-repeat').fill(PASSWORD)
  await app.page.getByTestId('password-confirm').click()
  await expect(app.page.getByTestId('password')).toHaveAttribute('data-set', 'true')
}

async function prove(page: Page, password = PASSWORD): Promise<void> {
  await page.getByTestId('proof-password').fill(password)
  await page.getByTestId('proof-confirm').click()
}

test('the link in the terminal lets one browser in, and leaves the address bar', async ({
  page,
  server,
  browser,
}) => {
  const app = new App(page, server)
  await page.goto(server.link)
  await app.expectConnected()
  expect(page.url()).toBe(`${server.origin}/`)
  await page.reload()
  await app.expectConnected()

  const late = await elsewhere(browser, server)
  await late.page.goto(server.link)
  await expect(late.page.getByTestId('way-in')).toHaveAttribute('data-way', /over|unknown/)
  await expect(late.page.getByText('sayso pair')).toBeVisible()
  expect(late.page.url()).not.toContain('pair')
  // Whoever is in already is not kept out by it.
  await page.goto(server.link)
  await app.expectConnected()
  expect(page.url()).not.toContain('pair')
  await late.page.context().close()
})

test('a phone is paired by a link, compared by a code, and out as soon as it is revoked', async ({
  app,
  server,
  browser,
}) => {
  const link = await makeLink(app, 'full')
  expect.soft(await violations(app.page), 'the code to scan').toEqual([])
  const phone = await elsewhere(browser, server)
  await phone.page.goto(link)
  await expect(phone.page.getByTestId('way-in')).toHaveAttribute('data-way', 'waiting')
  expect.soft(await violations(phone.page), 'waiting').toEqual([])
  expect(phone.page.url()).not.toContain('pair')
  await expect(app.page.getByTestId('pair-dialog')).toHaveAttribute('data-step', 'claimed')
  expect.soft(await violations(app.page), 'who knocks').toEqual([])
  const code = (page: Page) => page.getByTestId('pairing-code').getAttribute('data-code')
  expect(await code(phone.page)).toMatch(/^\d{6}$/)
  expect(await code(app.page)).toBe(await code(phone.page))
  await app.page.getByTestId('claim-name').fill('Test phone')
  await app.page.getByTestId('claim-allow').click()
  await phone.expectConnected()
  await app.page.getByTestId('pair-done').click()
  // What is searched for at the end.
  const cookies = await phone.page.context().cookies()
  const secrets = [secretOf(link), ...cookies.map(({ value }) => value.split('.')[1] ?? value)]
  await expect.poll(() => [...server.secrets]).toEqual(expect.arrayContaining(secrets))

  const row = device(app.page, 'Test phone')
  await expect(row.getByTestId('device-online')).toBeVisible()
  await row.getByTestId('device-revoke').click()
  await app.page.getByTestId('revoke-confirm').click()
  await expect(phone.page.getByTestId('unauthorized')).toBeVisible()
  await expect(row).toHaveCount(0)
  await phone.page.reload()
  await expect(phone.page.getByTestId('unauthorized')).toBeVisible()
  await phone.page.context().close()
})

test('who knocks is seen on every page, and gone when one has answered', async ({
  app,
  server,
  browser,
  context,
}) => {
  const link = await makeLink(app, 'view')
  await app.visit('/rules')
  const tab = new App(await context.newPage(), server)
  await tab.visit('/history')
  const phone = await elsewhere(browser, server)
  await phone.page.goto(link)
  await expect(app.page.getByTestId('claim-notice')).toBeVisible()
  await expect(tab.page.getByTestId('claim-notice')).toBeVisible()
  expect.soft(await violations(tab.page), 'the notice').toEqual([])
  await tab.page.getByTestId('claim-refuse').click()
  await expect(app.page.getByTestId('claim-notice')).toHaveCount(0)
  await expect(tab.page.getByTestId('claim-notice')).toHaveCount(0)
  await expect(phone.page.getByTestId('way-in')).toHaveAttribute('data-way', 'refused')
  await phone.page.context().close()
})

test('a device that may only look cannot decide, until it may', async ({
  app,
  server,
  browser,
}) => {
  const phone = await pair(app, browser, server, 'view')
  await app.visit('/')
  await app.startSession({ prompt: asks('ls'), agent: 'demo' })
  await app.expectCard('Bash')
  await phone.page.goto(app.page.url())
  await phone.expectCard('Bash')
  await expect(phone.inCard('scope-note')).toHaveText('This device may look, not decide.')
  // Past the moment in which no card takes clicks.
  await expect(app.inCard('allow')).toBeEnabled()
  for (const button of ['allow', 'deny', 'deny-stop', 'edit', 'always-allow']) {
    await expect(phone.inCard(button)).toBeDisabled()
  }
  expect.soft(await violations(phone.page), 'a card to look at').toEqual([])

  const manage = new App(await app.page.context().newPage(), server)
  await manage.visit('/devices')
  const row = device(manage.page, 'Test phone')
  await row.getByTestId('device-change').click()
  await row.locator('[data-preset="approve"]').click()
  await row.getByTestId('device-scopes-save').click()
  await expect(phone.inCard('allow')).toBeEnabled()
  await expect(phone.inCard('always-allow')).toBeDisabled()
  await phone.allow()
  await app.expectNoCard()
  await phone.page.context().close()
})

test('the password is asked for before an always-allow, and nothing is lost without it', async ({
  app,
}) => {
  await setPassword(app)
  await app.visit('/')
  await app.startSession({ prompt: asks('ls made'), agent: 'demo' })
  await app.expectCard('Bash')
  await app.inCard('always-allow').click()
  await expect(app.inCard('rule-save')).toBeEnabled()
  const rule = await app.inCard('rule-text').first().inputValue()
  await app.inCard('rule-save').click()
  await expect(app.page.getByTestId('proof')).toBeVisible()
  expect.soft(await violations(app.page), 'the password').toEqual([])

  await app.page.getByTestId('proof-cancel').click()
  await expect(app.card).toContainText('Give the password first')
  await expect(app.inCard('rule-text').first()).toHaveValue(rule)

  await app.inCard('rule-save').click()
  await prove(app.page, 'not the password')
  await expect(app.page.getByTestId('proof')).toContainText('That is not the password.')
  await prove(app.page)
  await app.expectNoCard()
  await app.visit('/rules')
  await expect(app.page.getByTestId('rule-row')).toContainText(rule)
})

test('what cannot be taken back wants the password too', async ({ app, server }) => {
  await setPassword(app)
  await app.visit('/')
  await app.startSession({ prompt: asks('rm -rf made'), agent: 'demo' })
  await app.expectCard('Bash')
  await app.readAll()
  await expect(app.inCard('allow')).toHaveAttribute('data-hold', '')
  await app.inCard('allow').hover()
  await app.page.mouse.down()
  await expect(app.page.getByTestId('proof')).toBeVisible()
  // Letting go of the button is no click beside the question.
  await app.page.mouse.up()
  await expect(app.page.getByTestId('proof')).toBeVisible()
  await prove(app.page)
  await app.expectNoCard()
  await expect(app.decisions).toHaveText([/Allowed by you/])
  expect([...server.secrets]).toContain(PASSWORD)
})

test('a token works with REST as far as it may, and not once it is revoked', async ({
  app,
  server,
}) => {
  await app.visit('/devices')
  await app.page.getByTestId('token-open').click()
  await app.page.getByTestId('token-name').fill('A script')
  expect.soft(await violations(app.page), 'a new token').toEqual([])
  await app.page.getByTestId('token-make').click()
  const token = await app.page.getByTestId('token').innerText()
  await app.page.getByTestId('token-done').click()
  expect([...server.secrets]).toContain(token)

  const headers = { authorization: `Bearer ${token}` }
  const status = async (path: string) =>
    (await fetch(`${server.origin}${path}`, { headers })).status
  expect([await status('/api/requests'), await status('/api/devices')]).toEqual([200, 403])

  const row = device(app.page, 'A script')
  await expect(row).toContainText('View only')
  await row.getByTestId('device-revoke').click()
  await app.page.getByTestId('revoke-confirm').click()
  await expect(row).toHaveCount(0)
  expect(await status('/api/requests')).toBe(401)
})

test('a browser that signs out is out', async ({ app, server }) => {
  await app.visit('/devices')
  const own = app.page.getByTestId('device').filter({ has: app.page.getByTestId('device-own') })
  await own.getByTestId('device-rename').click()
  await app.page.getByTestId('device-name-input').fill('The desk')
  await app.page.getByTestId('device-name-save').click()
  await expect(own).toContainText('The desk')
  await own.getByTestId('device-revoke').click()
  await app.page.getByTestId('revoke-confirm').click()
  await expect(app.page.getByTestId('unauthorized')).toBeVisible()
  expect.soft(await violations(app.page), 'not let in').toEqual([])
  await app.page.goto(`${server.origin}/devices`)
  await expect(app.page.getByTestId('unauthorized')).toBeVisible()
})
