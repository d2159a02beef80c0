/** How Sayso calls a human who looks elsewhere: where notifications go, and what becomes of them. */
import { createHmac } from 'node:crypto'

import type { Locator, Page } from '@playwright/test'

import type { PushPayload } from '../../ui/src/protocol.gen.ts'
import type { App } from '../fixtures/app.ts'
import { violations } from '../fixtures/axe.ts'
import { AppWorker, PushService } from '../fixtures/push.ts'
import { Receiver } from '../fixtures/receiver.ts'
import { expect, test as base } from '../fixtures/test.ts'
import { bash, say, use } from '../model/script.ts'

const test = base.extend<{ receiver: Receiver; push: PushService }>({
  receiver: async ({}, use) => {
    const receiver = await Receiver.start()
    await use(receiver)
    await receiver.stop()
  },
  push: async ({ page, context }, use) => {
    await context.grantPermissions(['notifications'])
    const push = await PushService.start()
    await push.takeThePlaceOfTheBrowsers(page)
    await use(push)
    await push.stop()
  },
})

const PATH = '/settings/notifications'
const CONFIG = '[notifications]\nprivate_push_services = true\n'

/** A script for the demo agent: it asks to run these commands, one after the other. */
const asks = (...commands: string[]) =>
  JSON.stringify({
    steps: commands.map((command) => ({ tool: { name: 'Bash', input: { command } } })),
  })

async function addChannel(page: Page, way: string, fields: Record<string, string>): Promise<void> {
  await page.getByTestId('channel-new').click()
  await page.locator(`[data-testid="way"][data-way="${way}"]`).click()
  const form = page.getByTestId('channel-form')
  for (const [field, text] of Object.entries(fields)) {
    await form.getByTestId(`channel-${field}`).fill(text)
  }
  await form.getByTestId('channel-add').click()
}

const channel = (page: Page, name: string): Locator =>
  page.getByTestId('channel').filter({ has: page.getByText(name, { exact: true }) })

const result = (item: Locator): Locator => item.getByTestId('channel-result')

/** The page says that nobody sees it, as one does whose tab is in the background. */
async function hide(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'hidden' })
    document.dispatchEvent(new Event('visibilitychange'))
  })
}

async function turnOn(app: App): Promise<void> {
  await app.visit(PATH)
  await app.page.getByTestId('push-on').click()
  await expect(app.page.getByTestId('push')).toHaveAttribute('data-state', 'on')
}

const isShow = (message: PushPayload) => message.type === 'show'

test.describe('channels', () => {
  test.use({ command: 'demo' })

  test('a webhook is added, tried and told of what waits, signed with the secret that was shown', async ({
    app,
    server,
    receiver,
  }) => {
    const { page } = app
    await app.visit(PATH)
    await expect(page.getByTestId('channels-empty')).toContainText('No channel yet')
    await addChannel(page, 'webhook', { name: 'Our bot', url: `${receiver.origin}/sayso` })
    const secret = await page.getByTestId('channel-secret').innerText()
    await page.getByTestId('channel-secret-done').click()
    const bot = channel(page, 'Our bot')
    await expect(result(bot)).toHaveAttribute('data-state', 'none')

    await bot.getByTestId('channel-test').click()
    await expect(result(bot)).toHaveAttribute('data-state', 'delivered')
    const [test] = receiver.received
    const signature = createHmac('sha256', secret)
      .update(`${String(test?.headers['x-sayso-timestamp'])}.`)
      .update(test?.body ?? '')
      .digest('hex')
    expect(test?.headers['x-sayso-signature']).toBe(`sha256=${signature}`)
    // The server signs with it, so it is kept; nobody is shown it again.
    expect(await page.content()).not.toContain(secret)
    expect(server.log.join('\n')).not.toContain(secret)

    await app.visit('/new')
    await app.startSession({ prompt: asks('touch waits.txt'), agent: 'demo' })
    await expect.poll(() => receiver.texts.at(-1)).toContain('Approval needed')
    await app.expectCard('Bash')
    await app.allow()
    await expect.poll(() => receiver.texts.at(-1)).toContain('"withdraw"')
  })

  test('what does not arrive is said, and why; and it can be renamed, switched off and removed', async ({
    app,
    receiver,
  }) => {
    const { page } = app
    receiver.status = 403
    await app.visit(PATH)
    await addChannel(page, 'slack', { name: 'Team', url: `${receiver.origin}/hook` })
    const team = channel(page, 'Team')
    await team.getByTestId('channel-test').click()
    await expect(result(team)).toContainText('Not delivered: The server answered 403')
    expect(receiver.texts).toEqual([expect.stringContaining('"text"')])
    await page.reload()
    await expect(result(team)).toHaveAttribute('data-state', 'failed')

    await team.getByTestId('channel-rename').click()
    await page.getByTestId('channel-name-input').fill('Our team')
    await page.getByTestId('channel-name-save').click()
    const renamed = channel(page, 'Our team')
    await renamed.getByTestId('channel-enabled').click()
    await expect(renamed.getByTestId('channel-summary')).toHaveText('Switched off')
    await renamed.getByTestId('channel-remove').click()
    await page.getByTestId('remove-channel-confirm').click()
    await expect(page.getByTestId('channels-empty')).toBeVisible()
  })

  test('what is wrong with a channel is said at its field', async ({ app }) => {
    const { page } = app
    await app.visit(PATH)
    await addChannel(page, 'ntfy', { name: '', server: 'ntfy.sh', topic: 'not a topic' })
    await expect(page.getByTestId('channel-name-problem')).toContainText('Give it a name')
    await expect(page.getByTestId('channel-server-problem')).toContainText('https://ntfy.sh')
    await expect(page.getByTestId('channel-topic-problem')).toContainText('1 to 64')
    await expect(page.getByTestId('channel-name')).toBeFocused()
    await page.locator('[data-testid="way"][data-way="webhook"]').click()
    await page.getByTestId('channel-name').fill('Bot')
    await page.getByTestId('channel-url').fill('https://user:secret@bot.example.org')
    await page.getByTestId('channel-add').click()
    await expect(page.getByTestId('channel-url-problem')).toContainText('https://')
  })

  test('what a channel is told, and when, is chosen and kept', async ({ app, receiver }) => {
    const { page } = app
    await app.visit(PATH)
    await addChannel(page, 'ntfy', { name: 'My phone', server: receiver.origin, topic: 'sayso-1' })
    const phone = channel(page, 'My phone')
    await phone.getByTestId('channel-edit').click()
    await phone.locator('[data-testid="channel-kind"][data-kind="plan"]').uncheck()
    await phone.getByTestId('channel-after').selectOption('60')
    await phone.getByTestId('channel-remind').selectOption('30')
    await phone.getByTestId('channel-away').click()
    await phone.getByTestId('quiet-hours').click()
    await phone.getByTestId('quiet-from').fill('23:30')
    await phone.getByTestId('quiet-zone').fill('Europe/Nowhere')
    await phone.getByTestId('channel-save').click()
    await expect(phone.getByTestId('channel-problem')).toContainText('time_zone')
    await phone.getByTestId('quiet-zone').fill('Europe/Berlin')
    await phone.getByTestId('channel-allow').click()
    await expect(phone.getByTestId('allow-warning')).toContainText('that others read')
    await phone.getByTestId('channel-save').click()
    await expect(phone.getByTestId('channel-save')).toHaveCount(0)
    await page.reload()
    await expect(phone.getByTestId('channel-summary')).toHaveText(
      'Approvals, Questions, Trouble · after 1 min · when nobody looks · quiet 23:30–07:00 · can allow',
    )
    await phone.getByTestId('channel-edit').click()
    await expect(phone.getByTestId('quiet-zone')).toHaveValue('Europe/Berlin')
    await expect(phone.getByTestId('channel-remind')).toHaveValue('30')
    expect(await violations(page)).toEqual([])
    await phone.getByTestId('channel-test').click()
    await expect(result(phone)).toHaveAttribute('data-state', 'delivered')
    expect(JSON.parse(receiver.texts[0] ?? '')).toMatchObject({ topic: 'sayso-1', title: 'Sayso' })
  })

  test('the page can be reached from the settings and by its keys, on a phone, too', async ({
    app,
  }) => {
    const { page } = app
    await page.keyboard.press('g')
    await page.keyboard.press('n')
    await expect(page.getByTestId('notifications-page')).toBeVisible()
    await page.setViewportSize({ width: 390, height: 844 })
    await app.visit('/settings')
    await page.getByTestId('notifications').click()
    await expect(page.getByTestId('push-on')).toBeVisible()
    const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
    expect(scrollWidth).toBe(clientWidth)
    expect(await violations(page)).toEqual([])
  })
})

test.describe('this device', () => {
  test.use({ command: 'demo', config: CONFIG })

  test('the browser is asked only by a click, and a refusal says how to undo it', async ({
    app,
  }) => {
    const { page } = app
    await page.addInitScript(() => {
      const asked = { times: 0 }
      let permission = 'default'
      Object.defineProperty(Notification, 'permission', { get: () => permission })
      Object.assign(Notification, {
        requestPermission: () => {
          asked.times++
          permission = 'denied'
          return Promise.resolve(permission)
        },
      })
      Object.assign(window, { asked })
    })
    await app.visit(PATH)
    const asked = () =>
      page.evaluate(() => (window as unknown as { asked: { times: number } }).asked.times)
    await expect(page.getByTestId('push')).toHaveAttribute('data-state', 'off')
    expect(await asked()).toBe(0)
    await page.getByTestId('push-on').click()
    await expect(page.getByTestId('push')).toHaveAttribute('data-state', 'blocked')
    await expect(page.getByTestId('push-words')).toContainText('site settings')
    expect(await asked()).toBe(1)
  })

  test('a push message shows what waits, and its end takes it back', async ({ app, push }) => {
    const { page } = app
    await turnOn(app)
    await expect(page.getByTestId('contact-hint')).toContainText('sayso.toml')
    await page.getByTestId('channel-test').click()
    await expect(result(page.getByTestId('push'))).toHaveAttribute('data-state', 'delivered')
    const worker = await AppWorker.of(page)
    await worker.push(push.messages[0] ?? '')
    await expect
      .poll(() => worker.shown())
      .toEqual([
        {
          title: 'Sayso',
          body: 'This is a test. Notifications reach you here.',
          tag: 'test',
          actions: ['Open'],
        },
      ])

    await app.visit('/new')
    await app.startSession({ prompt: asks('touch waits.txt'), agent: 'demo' })
    await app.expectCard('Bash')
    await hide(page)
    await expect.poll(() => push.messages.length).toBe(2)
    const [, told] = push.messages
    expect(told).toMatchObject({ type: 'show', title: 'Approval needed' })
    await worker.push(told ?? '')
    const shown = async () => (await worker.shown()).find(({ tag }) => tag === told?.tag)
    await expect.poll(shown).toMatchObject({ title: 'Approval needed', actions: ['Deny', 'Open'] })
    expect(JSON.stringify(await shown())).not.toContain('waits.txt')

    await app.allow()
    await expect.poll(() => push.messages.at(-1)).toEqual({ type: 'withdraw', tag: told?.tag })
    await worker.push(push.messages.at(-1) ?? '')
    await expect.poll(async () => (await worker.shown()).map(({ tag }) => tag)).toEqual(['test'])
  })

  test('with no page in view, each push leaves something on the screen', async ({ app, push }) => {
    const { page } = app
    await turnOn(app)
    const worker = await AppWorker.of(page)
    const tag = `r${'1'.repeat(31)}`
    await page.goto('about:blank')
    expect(push.messages).toEqual([])
    await worker.push('not for us')
    await expect
      .poll(() => worker.shown())
      .toMatchObject([{ title: 'Sayso', tag: 'sayso.unreadable' }])
    await worker.push({ type: 'withdraw', tag: 'sayso.unreadable' })
    await expect.poll(() => worker.shown()).toMatchObject([{ title: 'Nothing waits any more' }])
    const notice: PushPayload = {
      type: 'show',
      tag,
      kind: 'tool',
      title: 'Approval needed',
      body: 'Bash',
      path: '/',
      reminder: false,
      actions: [],
    }
    await worker.push(notice)
    await expect.poll(() => worker.shown()).toMatchObject([{ title: 'Approval needed', tag }])
    await worker.push({ ...notice, reminder: true, title: 'Time is running out' })
    await expect.poll(() => worker.shown()).toMatchObject([{ title: 'Time is running out', tag }])
    // Whoever comes back and looks is told by the page.
    await app.visit('/')
    await expect.poll(() => worker.shown()).toEqual([])
  })

  test('who looks is not told; who looks away is, and the other channels are told at once', async ({
    app,
    push,
    receiver,
  }) => {
    const { page } = app
    await turnOn(app)
    await addChannel(page, 'slack', { name: 'Team', url: receiver.origin })
    await expect(channel(page, 'Team')).toBeVisible()
    await app.visit('/new')
    await app.startSession({ prompt: asks('touch first.txt'), agent: 'demo' })
    await expect.poll(() => receiver.texts.length).toBe(1)
    expect(push.messages).toEqual([])
    await hide(page)
    await expect.poll(() => push.messages.filter(isShow).length).toBe(1)
  })

  test('the buttons of a notification decide, open the card, and say what became of it', async ({
    app,
    push,
  }) => {
    const { page } = app
    await turnOn(app)
    const worker = await AppWorker.of(page)
    await app.visit('/new')
    await app.startSession({ prompt: asks('touch first.txt', 'touch second.txt'), agent: 'demo' })
    await app.expectCard('Bash')
    await app.visit('/')
    await hide(page)
    await expect.poll(() => push.messages.length).toBe(1)
    const [first] = push.messages
    const tags = async () => (await worker.shown()).map(({ tag }) => tag)
    await worker.push(first ?? '')
    await expect.poll(async () => (await worker.shown()).length).toBe(1)

    // The notification itself leads to its card, in the tab that is there.
    await worker.click(first?.tag ?? '')
    await expect(page).toHaveURL(/\/sessions\/[0-9a-f-]+\?request=[0-9a-f-]+$/)
    await app.expectCard('Bash')
    expect(await worker.shown()).toEqual([])

    await worker.push(first ?? '')
    await expect.poll(tags).toContain(first?.tag)
    await worker.click(first?.tag ?? '', 'deny')
    await expect.poll(() => worker.shown()).toMatchObject([{ title: 'Denied' }])
    await expect(app.decisions.first()).toContainText('from a notification')

    // A button works once, and then says so.
    await worker.push(first ?? '')
    await expect.poll(tags).toContain(first?.tag)
    await worker.click(first?.tag ?? '', 'deny')
    const failed = { title: 'Nothing was decided', tag: first?.tag, actions: ['Open'] }
    await expect.poll(() => worker.shown()).toContainEqual(expect.objectContaining(failed))
  })

  test('turning it off ends it on both sides, and what the browser ended is seen', async ({
    app,
    push,
  }) => {
    const { page } = app
    await turnOn(app)
    await page.evaluate(() => localStorage.removeItem('test.subscribed-with'))
    await page.reload()
    await expect(page.getByTestId('push')).toHaveAttribute('data-state', 'ended')
    await page.getByTestId('push-on').click()
    await expect(page.getByTestId('push')).toHaveAttribute('data-state', 'on')
    push.receiver.status = 410
    await page.getByTestId('channel-test').click()
    await expect(page.getByTestId('push')).toHaveAttribute('data-state', 'off')
    push.receiver.status = 201
    await page.getByTestId('push-on').click()
    await page.getByTestId('push-off').click()
    await expect(page.getByTestId('push')).toHaveAttribute('data-state', 'off')
    expect(await page.evaluate(() => localStorage.getItem('test.subscribed-with'))).toBeNull()
  })
})

test.describe('an agent that is real', () => {
  test.use({ config: CONFIG })

  test('is denied from a notification, and told so', async ({ app, model, push }) => {
    const { page } = app
    await turnOn(app)
    const worker = await AppWorker.of(page)
    model.play({ main: [use(bash('call', 'touch never.txt')), say('Then not.')] })
    await app.visit('/new')
    await app.startSession({ prompt: 'Make the file' })
    await app.expectCard('Bash')
    await hide(page)
    await expect.poll(() => push.messages.length).toBe(1)
    const [told] = push.messages
    await worker.push(told ?? '')
    await expect.poll(async () => (await worker.shown()).length).toBe(1)
    await worker.click(told?.tag ?? '', 'deny')
    await expect(app.transcript).toContainText('Then not.')
    await app.expectNoCard()
  })
})
