/** A request is decided by a human who means that request, and by nothing else. */
import type { App } from '../fixtures/app.ts'
import { fileExists } from '../fixtures/files.ts'
import type { Socket } from '../fixtures/socket.ts'
import { expect, test } from '../fixtures/test.ts'

test.use({ command: 'demo', viewport: { width: 1440, height: 900 } })
// Dozens of pages each; a machine that is short of processor time needs far more.
test.setTimeout(300_000)

async function ask(socket: Socket, project: string, ...commands: string[]): Promise<string> {
  const together = commands.map((command) => ({ tool: { name: 'Bash', input: { command } } }))
  const started = await socket.request({
    type: 'start_session',
    agent: 'demo',
    cwd: project,
    prompt: JSON.stringify({ steps: [{ together }] }),
  })
  for (const command of commands) await opened(socket, command)
  return (started as unknown as { session_id: string }).session_id
}

async function opened(socket: Socket, command: string) {
  const { pending_request } = await socket.next(
    'request_opened',
    ({ pending_request }) =>
      (pending_request.tool_input as { command?: string }).command === command,
  )
  return pending_request
}

async function denyElsewhere(socket: Socket, command: string): Promise<void> {
  const { request_id, input_digest } = await opened(socket, command)
  const decision = { behavior: 'deny' }
  await socket.request({ type: 'respond', request_id, input_digest, decision })
}

function shownCommand(app: App, command: string): Promise<void> {
  return expect(app.inCard('request-command')).toHaveText(command)
}

test('an event that a script made up decides nothing', async ({ app, socket, folders }) => {
  const session = await ask(socket, folders.project, 'touch one.txt', 'rm -rf build; touch two.txt')
  await app.visit(`/sessions/${session}`)
  for (const [command, file] of [
    ['touch one.txt', 'one.txt'],
    ['rm -rf build; touch two.txt', 'two.txt'],
  ] as const) {
    await shownCommand(app, command)
    await app.readAll()
    await app.card.evaluate(async (card) => {
      const init = { bubbles: true, cancelable: true, button: 0, isPrimary: true }
      const press = (name: string): void => {
        const button = card.querySelector<HTMLElement>(`[data-testid="${name}"]`)
        button?.dispatchEvent(new PointerEvent('pointerdown', init))
        button?.dispatchEvent(new MouseEvent('mousedown', init))
        button?.click()
        button?.dispatchEvent(new MouseEvent('click', init))
        button?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ...init }))
      }
      for (const key of ['a', 'Enter', 'd', 'Escape'])
        card.dispatchEvent(new KeyboardEvent('keydown', { key, ...init }))
      press('allow')
      press('deny-stop')
      press('deny')
      // As long as a button has to be kept pressed, and longer.
      await new Promise((done) => setTimeout(done, 1500))
    })
    await shownCommand(app, command)
    await expect(app.inCard('deny-reason')).toHaveCount(0)
    await expect(app.decisions).toHaveCount(0)
    expect(fileExists(folders, file)).toBe(false)
    if (file === 'one.txt') await app.inCard('request-next').click()
  }
  await app.inCard('request-previous').click()
  await shownCommand(app, 'touch one.txt')
  await app.allow()
  await expect.poll(() => fileExists(folders, 'one.txt')).toBe(true)
})

test('a finger that is down when the card changes presses nothing on the next one', async ({
  app,
  socket,
  folders,
}) => {
  const risky = ['rm -rf a; touch a.txt', 'rm -rf b; touch b.txt']
  const plain = ['touch c.txt', 'touch d.txt']
  for (const [first, second] of [plain, risky] as [string, string][]) {
    const session = await ask(socket, folders.project, first, second)
    await app.visit(`/sessions/${session}`)
    await shownCommand(app, first)
    await app.readAll()
    await app.inCard('allow').hover()
    await app.page.mouse.down()
    await denyElsewhere(socket, first)
    await shownCommand(app, second)
    await app.readAll()
    // Longer than a button has to be kept pressed.
    await app.page.evaluate(() => new Promise((done) => setTimeout(done, 1500)))
    await app.page.mouse.up()
    await shownCommand(app, second)
    await expect(app.decisions).toHaveCount(1)
    await denyElsewhere(socket, second)
    await app.expectNoCard()
  }
  for (const file of ['a.txt', 'b.txt', 'c.txt', 'd.txt'])
    expect(fileExists(folders, file), file).toBe(false)
})

test('what arrives does not take the place of the card that is read', async ({
  app,
  socket,
  folders,
}) => {
  await ask(socket, folders.project, 'touch first.txt', 'touch second.txt')
  await app.visit('/')
  await app.page.getByTestId('inbox-item').nth(1).getByRole('link').click()
  await shownCommand(app, 'touch second.txt')
  await app.readAll()
  const box = await app.inCard('allow').boundingBox()
  await ask(socket, folders.project, ...Array.from({ length: 8 }, (_, n) => `touch more-${n}.txt`))
  await expect(app.page.getByTestId('inbox-item')).toHaveCount(10)
  await denyElsewhere(socket, 'touch first.txt')
  await expect(app.page.locator('[data-testid="inbox-item"][data-outcome="denied"]')).toHaveCount(1)
  await shownCommand(app, 'touch second.txt')
  expect(await app.inCard('allow').boundingBox(), 'the button stays where it is').toEqual(box)
  await app.inCard('allow').click()
  await expect.poll(() => fileExists(folders, 'second.txt')).toBe(true)
  await expect(app.page).toHaveTitle(/^\(8\)/)
})
