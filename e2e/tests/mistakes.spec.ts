/** Against approving by mistake: keys, clicks and texts that a human did not mean or could not see. */
import { fileExists } from '../fixtures/files.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, say, type ScriptedTurn, subagent, type ToolCall, use } from '../model/script.ts'

test('twenty requests come while Enter is held: one is decided', async ({
  app,
  model,
  folders,
}) => {
  const count = 20
  const calls: ToolCall[] = []
  const agents: { match: string; turns: ScriptedTurn[] }[] = []
  for (let number = 1; number <= count; number++) {
    const mark = `MARK-${number}-END`
    calls.push(subagent(`agent-${number}`, `Agent ${number}`, `${mark} go`))
    const turns = [use(bash(`call-${number}`, `touch made-${number}.txt`)), say('Done.')]
    agents.push({ match: mark, turns })
  }
  model.play({ main: [use(...calls), say('All are back.')], agents })
  await app.startSession({ prompt: 'Send twenty' })
  await expect(app.inCard('allow')).toBeEnabled()
  await app.page.keyboard.press('r')

  // A browser repeats a key that is held some thirty times a second.
  await app.page.keyboard.down('Enter')
  await expect(async () => {
    await app.page.keyboard.down('Enter')
    const text = await app.page.title()
    expect(Number(/\((\d+)\)/.exec(text)?.[1] ?? 0)).toBeGreaterThanOrEqual(5)
  }).toPass({ intervals: [30], timeout: 60_000 })
  for (let press = 0; press < 60; press++) await app.page.keyboard.down('Enter')
  await app.page.keyboard.up('Enter')

  const made = () => calls.filter((_, index) => fileExists(folders, `made-${index + 1}.txt`))
  await expect.poll(() => made().length).toBe(1)
  await expect(app.page).toHaveTitle(/^\(19\)/)
  expect(made()).toHaveLength(1)
  await app.stopSession()
  await app.expectState('dead')
})

test('a card takes no focus and no click that was meant for something else', async ({
  app,
  model,
  folders,
}) => {
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  const stream = { parts: 2, next: () => held }
  model.play({
    main: [
      {
        blocks: [{ type: 'text', text: 'A moment, please.' }, bash('call', 'touch typed.txt')],
        stream,
      },
      say('Done.'),
    ],
  })
  await app.startSession({ prompt: 'Make the file' })
  const field = app.page.getByTestId('composer-input')
  await field.fill('a long thought: d, e, a')
  release()
  await app.expectCard('Bash')

  await expect(field).toBeFocused()
  await app.page.keyboard.type(' a d e')
  await expect(field).toHaveValue('a long thought: d, e, a a d e')
  await expect(app.decisions).toHaveCount(0)
  expect(fileExists(folders, 'typed.txt')).toBe(false)

  // The keys of the card work once somebody goes there.
  await app.page.keyboard.press('Escape')
  await app.card.focus()
  await app.page.keyboard.press('h')
  await expect(app.inCard('request-countdown')).toContainText('Clock stopped')
  await app.readAll()
  await app.card.focus()
  await app.page.keyboard.press('a')
  await expect(app.decisions).toHaveCount(1)
})

test('what cannot be taken back opens on Deny and wants to be kept pressed', async ({
  app,
  model,
  folders,
}) => {
  model.play({ main: [use(bash('call', 'rm -rf build && touch gone.txt')), say('Done.')] })
  await app.startSession({ prompt: 'Clean up' })
  await app.expectCard('Bash')
  await expect(app.card.locator('[data-testid="request-risk"][data-kind="deletes"]')).toBeVisible()
  await expect(app.inCard('allow')).toBeEnabled()
  await app.page.keyboard.press('r')
  await expect(app.inCard('deny')).toBeFocused()

  await app.page.keyboard.press('a')
  await app.inCard('allow').click()
  await app.inCard('allow').focus()
  await app.page.keyboard.press('Enter')
  await expect(app.decisions).toHaveCount(0)
  expect(fileExists(folders, 'gone.txt')).toBe(false)

  await app.keepPressed(app.inCard('allow'))
  await expect(app.transcript).toContainText('Done.')
  expect(fileExists(folders, 'gone.txt')).toBe(true)
})

test('64 KB of a command are shown whole, and allowed only once they were in view', async ({
  app,
  model,
  folders,
}) => {
  const padding = Array.from({ length: 1200 }, (_, line) => `echo "line ${line} ${'x'.repeat(40)}"`)
  const command = `${padding.join('\n')}\ntouch at-the-end.txt`
  expect(command.length).toBeGreaterThan(64 * 1024)
  model.play({ main: [use(bash('call', command)), say('Done.')] })
  await app.startSession({ prompt: 'Run something long' })
  await app.expectCard('Bash')

  expect(await app.inCard('request-command').evaluate((element) => element.textContent)).toBe(
    command,
  )
  await expect(app.inCard('show-rest')).toBeEnabled()
  await expect(app.inCard('allow')).toHaveCount(0)

  // Jumping to the end is not reading.
  const body = app.inCard('request-body')
  await body.evaluate((element) => element.scrollTo(0, element.scrollHeight))
  await expect(app.inCard('request-command')).toContainText('at-the-end.txt')
  await expect(app.inCard('allow')).toHaveCount(0)
  await app.card.focus()
  await app.page.keyboard.press('a')
  await expect(app.decisions).toHaveCount(0)

  await app.allow()
  await expect(app.transcript).toContainText('Done.')
  expect(fileExists(folders, 'at-the-end.txt')).toBe(true)
})

test('what cannot be seen is made visible', async ({ app, model }) => {
  const command = `echo one${' '.repeat(300)}two \u202eevil\u200b`
  model.play({ main: [use(bash('call', command)), say('Done.')] })
  await app.startSession({ prompt: 'Say it' })
  await app.expectCard('Bash')
  const shown = app.inCard('request-command')
  for (const chip of ['⟨300 spaces⟩', '⟨U+202E⟩', '⟨U+200B⟩']) {
    await expect(shown).toContainText(chip)
  }
})
