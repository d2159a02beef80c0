/** One thumb: what a phone is for, with real touches. Pictures go to the folder `phone` of the results. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import type { Browser, Locator, TestInfo } from '@playwright/test'

import { App } from '../fixtures/app.ts'
import { violations } from '../fixtures/axe.ts'
import { scan } from '../fixtures/camera.ts'
import { fileExists } from '../fixtures/files.ts'
import { Finger } from '../fixtures/finger.ts'
import { noteSecrets } from '../fixtures/secrets.ts'
import type { SaysoServer } from '../fixtures/server.ts'
import { expect, test } from '../fixtures/test.ts'
import {
  ask,
  bash,
  type MessagesRequest,
  question,
  say,
  subagent,
  tool,
  type Turn,
  use,
  write,
} from '../model/script.ts'

const PHONE = { hasTouch: true, isMobile: true, deviceScaleFactor: 2 }
const USUAL = { width: 390, height: 844 }
const SMALL = { width: 320, height: 568 }
/** What is left of the screens above a keyboard. */
const KEYBOARD = { 844: 508, 568: 315 } as const

/** Takes a picture in both colours, and looks for what keeps somebody out. */
async function look(app: App, name: string, testInfo: TestInfo): Promise<void> {
  const { page } = app
  const size = page.viewportSize() ?? USUAL
  const folder = join(testInfo.project.outputDir, 'phone')
  mkdirSync(folder, { recursive: true })
  await expectNothingAside(app)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const path = join(folder, `${name} ${size.width}x${size.height} ${colorScheme}.png`)
    await page.screenshot({ path, animations: 'disabled' })
  }
}

/** Nobody has to move a page sideways to read it. */
async function expectNothingAside({ page }: App): Promise<void> {
  const widths = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    ...[...document.querySelectorAll('.page, main')].map((element) => element.scrollWidth),
  ])
  expect(Math.max(...widths)).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0)
}

/** Large enough for a thumb, far enough from each other, and on the screen. */
async function expectInReach(app: App): Promise<void> {
  const actions = app.card.locator('.actions')
  const boxes = []
  for (const button of await actions.locator('button:visible').all()) {
    const box = await button.boundingBox()
    if (box) boxes.push({ ...box, name: await button.innerText() })
  }
  expect(boxes.length).toBeGreaterThan(1)
  const { width, height } = app.page.viewportSize() ?? USUAL
  for (const box of boxes) {
    expect(box.height, box.name).toBeGreaterThanOrEqual(44)
    expect(box.y + box.height, `${box.name} is on the screen`).toBeLessThanOrEqual(height)
    expect(box.y, `${box.name} is in the lower half`).toBeGreaterThan(height / 2)
    expect(box.x + box.width, `${box.name} is on the screen`).toBeLessThanOrEqual(width)
    for (const other of boxes.filter((one) => one !== box)) {
      const across = Math.max(other.x - (box.x + box.width), box.x - (other.x + other.width))
      const along = Math.max(other.y - (box.y + box.height), box.y - (other.y + other.height))
      expect(Math.max(across, along), `${box.name}, ${other.name}`).toBeGreaterThanOrEqual(8)
    }
  }
}

async function expectOnScreen(app: App, ...parts: Locator[]): Promise<void> {
  const height = app.page.viewportSize()?.height ?? 0
  for (const part of parts) {
    await expect(part).toBeInViewport({ ratio: 1 })
    const box = await part.boundingBox()
    expect((box?.y ?? height) + (box?.height ?? 0)).toBeLessThanOrEqual(height)
  }
}

/** The keyboard comes: browsers with `interactive-widget` make the page smaller. */
async function raiseKeyboard(app: App): Promise<void> {
  const { width, height } = app.page.viewportSize() ?? USUAL
  await app.page.setViewportSize({ width, height: KEYBOARD[height as keyof typeof KEYBOARD] })
}

/** The agent names the file that it wants the plan in. */
function writePlan(id: string, content: string): (request: MessagesRequest) => Turn {
  return (request) => {
    const path = /[^\s"'`\\]*\/plans\/[\w-]+\.md/.exec(JSON.stringify(request))?.[0]
    return use(tool(id, 'Write', { file_path: path ?? '', content }))
  }
}

for (const viewport of [USUAL, SMALL]) {
  test.describe(`${viewport.width} wide`, () => {
    test.use({ ...PHONE, viewport })

    test('a tap allows, with everything in the reach of a thumb', async ({
      app,
      model,
      folders,
    }, testInfo) => {
      model.play({ main: [use(bash('call', 'touch tapped.txt')), say('Done.')] })
      await app.startSession({ prompt: 'Make the file' })
      await app.expectCard('Bash')
      await app.readAll()
      await expectInReach(app)
      await look(app, 'session', testInfo)
      await app.visit('/')
      await app.expectCard('Bash')
      await app.readAll()
      await expectInReach(app)
      await look(app, 'inbox', testInfo)
      expect.soft(await violations(app.page), 'the inbox').toEqual([])
      await app.inCard('allow').tap()
      await app.expectNoCard()
      await look(app, 'inbox after', testInfo)
      await model.toolResult('call')
      expect(fileExists(folders, 'tapped.txt')).toBe(true)
    })

    test('a long swipe allows, and nothing less does', async ({
      app,
      model,
      folders,
    }, testInfo) => {
      model.play({
        main: [
          use(bash('first', 'touch swiped.txt')),
          use(bash('next', 'touch next.txt')),
          say('Done.'),
        ],
      })
      await app.startSession({ prompt: 'Make the file' })
      await app.visit('/')
      await app.expectCard('Bash')
      await app.readAll()
      await expect(app.inCard('swipe-hint')).toBeVisible()
      const finger = await Finger.on(app.page)
      const body = app.inCard('request-body')

      await finger.swipe(body, { x: 120 })
      await finger.swipe(body, { y: -160 })
      await finger.swipe(body, { x: viewport.width * 0.75 }, 2)
      await expect(app.inCard('swipe-said')).toHaveText(/slowly/)
      await expect(app.inCard('deny')).toBeEnabled()
      expect(fileExists(folders, 'swiped.txt')).toBe(false)

      const { x, y, height } = (await body.boundingBox()) ?? { x: 0, y: 0, height: 0 }
      const from = { x: x + 40, y: y + height / 2 }
      const near = { ...from, x: from.x + 100 }
      const far = { ...from, x: from.x + viewport.width * 0.66 }
      await finger.down(from)
      await finger.move(from, near)
      await expect(app.inCard('swipe-ground')).toHaveAttribute('data-side', 'right')
      await look(app, 'swipe near', testInfo)
      await finger.move(near, far)
      await expect(app.inCard('swipe-ground')).toHaveAttribute('data-far', 'true')
      await look(app, 'swipe far', testInfo)
      await finger.up()
      expect((await model.toolResult('first')).isError).toBe(false)
      expect(fileExists(folders, 'swiped.txt')).toBe(true)

      // The next card has come to the same place; it wants a swipe of its own.
      await expect(app.inCard('request-command')).toHaveText('touch next.txt')
      await app.inCard('deny-stop').tap()
      await app.expectNoCard()
    })

    test('what cannot be taken back says that a swipe is not enough', async ({
      app,
      model,
      folders,
    }, testInfo) => {
      model.play({ main: [use(bash('call', 'rm -rf made && touch risky.txt')), say('Done.')] })
      await app.startSession({ prompt: 'Tidy up' })
      await app.visit('/')
      await app.expectCard('Bash')
      await app.readAll()
      await expect(app.inCard('allow')).toHaveAttribute('data-hold', '')
      await expect(app.inCard('swipe-hint')).toHaveCount(0)
      const finger = await Finger.on(app.page)
      for (const x of [0.7, -0.7]) {
        await finger.swipe(app.inCard('request-body'), { x: x * viewport.width })
        await expect(app.inCard('swipe-said')).toHaveText(/Use its buttons/)
        await expect(app.inCard('deny-reason')).toHaveCount(0)
      }
      await look(app, 'risky', testInfo)
      expect(fileExists(folders, 'risky.txt')).toBe(false)
      await app.allow()
      expect((await model.toolResult('call')).isError).toBe(false)
      expect(fileExists(folders, 'risky.txt')).toBe(true)
    })

    test('what was not read to its end is not swiped away, nor by a script', async ({
      app,
      model,
      folders,
    }) => {
      const lines = Array.from({ length: 40 }, (_, line) => `echo ${line} >> long.txt`)
      model.play({ main: [use(bash('call', lines.join('\n'))), say('Done.')] })
      await app.startSession({ prompt: 'Count' })
      await app.visit('/')
      await app.expectCard('Bash')
      await expect(app.inCard('show-rest')).toBeEnabled()
      const finger = await Finger.on(app.page)
      const body = app.inCard('request-body')
      await finger.swipe(body, { x: 0.7 * viewport.width })
      await expect(app.inCard('swipe-said')).toHaveText(/Read it to the end/)
      await app.readAll()

      // Before a hand that means it: events that no hand has made.
      await body.evaluate((element) => {
        const send = (type: string, clientX: number): void => {
          const init = { pointerId: 1, pointerType: 'touch', isPrimary: true, bubbles: true }
          element.dispatchEvent(new PointerEvent(type, { ...init, clientX, clientY: 400 }))
        }
        send('pointerdown', 40)
        for (let x = 60; x <= 360; x += 20) send('pointermove', x)
        send('pointerup', 360)
      })
      await expect(app.inCard('swipe-ground')).toHaveCount(0)
      expect(fileExists(folders, 'long.txt')).toBe(false)
      await finger.swipe(body, { x: 0.7 * viewport.width })
      expect((await model.toolResult('call')).isError).toBe(false)
      expect(fileExists(folders, 'long.txt')).toBe(true)
    })

    test('a swipe to the left asks why, and the agent hears it above the keyboard', async ({
      app,
      model,
      folders,
    }, testInfo) => {
      model.play({ main: [use(bash('call', 'touch refused.txt')), say('Understood.')] })
      await app.startSession({ prompt: 'Make the file' })
      await app.visit('/')
      await app.expectCard('Bash')
      await app.readAll()
      const finger = await Finger.on(app.page)
      await finger.swipe(app.inCard('request-body'), { x: -0.55 * viewport.width })
      await expect(app.inCard('deny-reason')).toBeFocused()
      await raiseKeyboard(app)
      await expectOnScreen(app, app.inCard('deny-reason'), app.inCard('deny-confirm'))
      await look(app, 'deny with keyboard', testInfo)
      await app.inCard('deny-reason').fill('Into build/, please.')
      // Pulling the page down to load it again loses nothing that was written.
      await app.page.reload()
      await app.expectCard('Bash')
      await app.inCard('deny').tap()
      await expect(app.inCard('deny-reason')).toHaveValue('Into build/, please.')
      await app.inCard('deny-confirm').tap()
      expect(await model.toolResult('call')).toEqual({
        text: 'Into build/, please.',
        isError: true,
      })
      expect(fileExists(folders, 'refused.txt')).toBe(false)
    })

    test('a question is answered with a choice and with own words', async ({
      app,
      model,
    }, testInfo) => {
      const colour = question('Which colour?', 'Colour', ['Red', 'Blue'])
      const parts = question('Which parts?', 'Parts', ['Intro', 'Body', 'End'], true)
      model.play({ main: [use(ask('ask', colour, parts)), say('Thank you.')] })
      await app.startSession({ prompt: 'Ask me' })
      await app.expectCard('AskUserQuestion')
      await look(app, 'question', testInfo)
      await app.question('Which colour?').locator('[data-label="Blue"]').tap()
      const other = app.question('Which parts?').getByTestId('option-other')
      await other.tap()
      const field = app.question('Which parts?').getByTestId('other-text')
      await expect(field).toBeFocused()
      await raiseKeyboard(app)
      await field.fill('an index')
      await expectOnScreen(app, field, app.inCard('answer-submit'))
      await look(app, 'question with keyboard', testInfo)
      await app.inCard('answer-submit').tap()
      const { text, isError } = await model.toolResult('ask')
      expect(isError).toBe(false)
      expect(text).toContain('"Which colour?"="Blue", "Which parts?"="an index"')
    })

    test('a plan is read, and approved into a chosen mode', async ({
      app,
      model,
      folders,
    }, testInfo) => {
      model.play({
        main: [
          writePlan('plan', '# The plan\n\nFirst we test.\n\n- Read it\n- Write it\n'),
          use(tool('exit', 'ExitPlanMode', {})),
          use(write('write', 'planned.txt', 'as planned\n')),
          say('Done as planned.'),
        ],
      })
      await app.startSession({ prompt: 'Plan it', mode: 'plan' })
      await app.expectCard('ExitPlanMode')
      await app.readAll()
      await look(app, 'plan', testInfo)
      await app.card.locator('[data-testid="plan-mode"][data-mode="acceptEdits"]').tap()
      await expectOnScreen(app, app.inCard('deny'), app.inCard('allow'))
      await look(app, 'plan mode', testInfo)
      await app.inCard('allow').tap()
      await expect(app.transcript).toContainText('Done as planned.')
      expect(fileExists(folders, 'planned.txt')).toBe(true)
      await app.page.getByTestId('composer-input').tap()
      await raiseKeyboard(app)
      await app.page.getByTestId('composer-input').fill('Thanks')
      await expectOnScreen(
        app,
        app.page.getByTestId('composer-input'),
        app.page.getByTestId('composer-send'),
      )
      await look(app, 'composer with keyboard', testInfo)
    })
  })
}

test.describe('ways in', () => {
  /** A phone with nothing of the desktop's. */
  async function phone(browser: Browser, server: SaysoServer): Promise<App> {
    const context = await browser.newContext({ ...PHONE, viewport: USUAL })
    noteSecrets(context, server.secrets)
    return new App(await context.newPage(), server)
  }

  test('a phone scans the code of the desktop and lands where it wanted to go', async ({
    app,
    model,
    server,
    browser,
  }, testInfo) => {
    model.play({
      main: [
        use(subagent('first', 'First', 'MARK-ONE go'), subagent('second', 'Second', 'MARK-TWO go')),
        say('Both are back.'),
      ],
      agents: [
        { match: 'MARK-ONE', turns: [use(bash('one', 'touch one.txt')), say('One is done.')] },
        { match: 'MARK-TWO', turns: [use(bash('two', 'touch two.txt')), say('Two is done.')] },
      ],
    })
    await app.startSession({ prompt: 'Send two' })
    await expect(app.inCard('request-position')).toHaveText('1 of 2')
    const earlier = await app.card.getAttribute('data-request-id')
    await app.inCard('request-next').click()
    await expect(app.inCard('request-position')).toHaveText('2 of 2')
    const request = await app.card.getAttribute('data-request-id')
    const path = `/sessions/${app.sessionId}?request=${request}`

    // From a notification, before it was ever let in.
    const mobile = await phone(browser, server)
    await mobile.page.goto(`${server.origin}${path}`)
    await expect(mobile.page.getByTestId('unauthorized')).toContainText('goes on to the page')
    await look(mobile, 'not let in', testInfo)

    await app.visit('/devices')
    await app.page.getByTestId('pair-open').click()
    await app.page.getByTestId('pair-make').click()
    await expect(app.page.getByTestId('pair-local')).toContainText('--tls self-signed')
    await app.page.screenshot({
      path: join(testInfo.project.outputDir, 'phone', 'desktop code.png'),
    })
    const link = await scan(app.page.getByTestId('qr'), mobile.page.context())
    expect(link).toBe(await app.page.getByTestId('pair-url').innerText())

    // The camera opens a page of its own.
    const opened = new App(await mobile.page.context().newPage(), server)
    await opened.page.goto(link)
    await expect(opened.page.getByTestId('way-in')).toHaveAttribute('data-way', 'waiting')
    await look(opened, 'waiting', testInfo)
    await expect(app.page.getByTestId('claim')).toBeVisible()
    await app.page.getByTestId('claim-name').fill('The phone')
    await app.page.getByTestId('claim-allow').click()
    await expect(app.page.getByTestId('pair-dialog')).toContainText('The phone')
    await app.page.getByTestId('pair-done').click()
    const row = app.page.getByTestId('device').filter({ hasText: 'The phone' })
    await expect(row.getByTestId('device-online')).toBeVisible()

    await expect(opened.page).toHaveURL(`${server.origin}${path}`)
    await expect(opened.card).toHaveAttribute('data-request-id', request ?? '')
    await look(opened, 'landed', testInfo)
    await opened.readAll()
    await opened.inCard('allow').tap()
    await expect(opened.card).toHaveAttribute('data-request-id', earlier ?? '')

    // Whoever wanted nothing in particular is in the inbox, with what waits in reach.
    await opened.visit('/')
    await expect(opened.card).toHaveAttribute('data-request-id', earlier ?? '')
    await opened.readAll()
    await opened.inCard('allow').tap()
    await Promise.all([model.toolResult('one'), model.toolResult('two')])
    await mobile.page.context().close()
  })
})

test.describe('a screen with a notch', () => {
  test.use({ ...PHONE, viewport: USUAL })

  test('nothing that is pressed lies beneath it or the bar of the system', async ({
    app,
    model,
  }, testInfo) => {
    model.play({ main: [use(bash('call', 'touch clear.txt')), say('Done.')] })
    const top = 47
    const bottom = USUAL.height - 34
    const insets = { top, topMax: top, bottom: 34, bottomMax: 34 }
    const session = await app.page.context().newCDPSession(app.page)
    await session.send('Emulation.setSafeAreaInsetsOverride', { insets })
    const expectClear = async (...parts: Locator[]): Promise<void> => {
      for (const part of parts) {
        const box = await part.boundingBox()
        expect(box?.y, String(part)).toBeGreaterThanOrEqual(top)
        expect((box?.y ?? 0) + (box?.height ?? 0), String(part)).toBeLessThanOrEqual(bottom)
      }
    }
    await app.startSession({ prompt: 'Make the file' })
    await app.expectCard('Bash')
    await app.readAll()
    await expectClear(app.page.getByTestId('back'), app.inCard('deny'), app.inCard('allow'))
    await look(app, 'session with a notch', testInfo)
    for (const path of ['/', '/sessions', '/new', '/history', '/settings', '/devices']) {
      await app.visit(path)
      const heading = app.page.getByRole('heading', { level: 1 })
      await expect(heading).toBeVisible()
      await expectClear(heading, app.page.getByTestId('history'))
      await expectNothingAside(app)
    }
    await app.page.getByTestId('pair-open').tap()
    await app.page.getByTestId('pair-make').tap()
    await expect(app.page.getByTestId('qr')).toBeVisible()
    await expectClear(app.page.getByTestId('pair-close'))
    await look(app, 'dialog with a notch', testInfo)
    await app.visit('/')
    await app.allow()
    await model.toolResult('call')
  })
})

test.describe('other ways to hold it', () => {
  test.use({ ...PHONE, viewport: { width: 844, height: 390 } })

  test('on its side everything can be read and pressed', async ({ app, model }, testInfo) => {
    model.play({
      main: [
        use(bash('call', 'touch one.txt && touch two.txt && touch three.txt')),
        use(bash('next', 'touch next.txt')),
        say('Done.'),
      ],
    })
    await app.startSession({ prompt: 'Look' })
    await app.expectCard('Bash')
    await app.readAll()
    await expectOnScreen(app, app.inCard('deny'), app.inCard('allow'))
    await look(app, 'session on its side', testInfo)
    await app.visit('/')
    await app.expectCard('Bash')
    await app.readAll()
    await expectOnScreen(app, app.inCard('deny'), app.inCard('allow'))
    await look(app, 'inbox on its side', testInfo)
    await app.inCard('allow').tap()
    await expect(app.inCard('request-command')).toHaveText('touch next.txt')

    // Twice as large: half as many pixels for the page, of twice the size.
    await app.page.setViewportSize({ width: 195, height: 422 })
    await app.readAll()
    await expectOnScreen(app, app.inCard('deny'), app.inCard('allow'))
    await look(app, 'twice as large', testInfo)
    await app.inCard('allow').tap()
    await app.expectNoCard()
    await model.toolResult('next')
  })
})
