/** The buttons of a tool approval, beyond the plain yes and no. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { fileText } from '../fixtures/files.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, edit, read, say, tool, use, write } from '../model/script.ts'

test('the model is told what a human changed in a command', async ({ app, model }) => {
  model.play({ main: [use(bash('call', 'touch asked.txt')), say('Done.')] })
  await app.startSession({ prompt: 'Make the file' })
  await app.expectCard('Bash')
  await app.allowEdited('touch edited.txt')

  await app.expectState('user_turn')
  const heard = JSON.stringify(model.requests.at(-1))
  expect(heard).toContain('The user changed this tool call before allowing it.')
  expect(heard).toContain('command: touch edited.txt')
  await expect(app.decisions).toHaveText([/Allowed by you, edited/])
})

test('the model is told of a change also when the command fails', async ({ app, model }) => {
  model.play({ main: [use(bash('call', 'touch asked.txt')), say('Done.')] })
  await app.startSession({ prompt: 'Make the file' })
  await app.expectCard('Bash')
  await app.allowEdited('ls /nowhere-at-all')

  await app.expectState('user_turn')
  expect((await model.toolResult('call')).isError).toBe(true)
  expect(JSON.stringify(model.requests.at(-1))).toContain('command: ls /nowhere-at-all')
})

test('an edited replacement is what lands in the file, and the model knows', async ({
  app,
  model,
  folders,
}) => {
  writeFileSync(join(folders.project, 'notes.txt'), 'one\ntwo\nthree\n')
  model.play({
    main: [
      use(read('read', 'notes.txt')),
      use(edit('edit', 'notes.txt', 'two', 'zwei')),
      say('Done.'),
    ],
  })
  await app.startSession({ prompt: 'Translate' })
  await app.expectCard('Edit')
  await app.allowEdited('deux')

  await app.expectState('user_turn')
  expect(fileText(folders, 'notes.txt')).toBe('one\ndeux\nthree\n')
  expect(JSON.stringify(model.requests.at(-1))).toContain('new_string: deux')
})

test('a change is shown against the file as it is now', async ({ app, model, folders }) => {
  const file = join(folders.project, 'notes.txt')
  writeFileSync(file, 'one\ntwo\nthree\n')
  model.play({
    main: [
      use(read('read', 'notes.txt')),
      use(edit('edit', 'notes.txt', 'two', 'zwei')),
      use(write('write', 'notes.txt', 'all new\n')),
      say('Done.'),
    ],
  })
  await app.startSession({ prompt: 'Translate' })
  await app.expectCard('Edit')
  await expect(app.inCard('request-diff')).toContainText('zwei')
  await expect(app.inCard('request-diff')).toContainText('three')
  await expect(app.inCard('request-warning')).toHaveCount(0)

  // Somebody else is quicker than the human.
  writeFileSync(file, 'one\nthree\n')
  await app.inCard('baseline-read').click()
  await expect(app.inCard('request-warning')).toContainText('is not in the file any more')
  writeFileSync(file, 'one\ntwo\nthree\n')
  await app.inCard('baseline-read').click()
  await expect(app.inCard('request-warning')).toHaveCount(0)
  await app.allow()

  await app.expectCard('Write')
  await expect(app.inCard('request-diff')).toContainText('all new')
  await expect(app.inCard('request-diff')).toContainText('zwei')
  await expect(app.inCard('request-size')).toContainText('8 B')
  await app.allow()
  await app.expectState('user_turn')
  expect(fileText(folders, 'notes.txt')).toBe('all new\n')
})

test('always allow remembers exactly what was chosen', async ({ app, model, folders }) => {
  model.play({
    main: [use(bash('first', 'touch one.txt')), use(bash('second', 'touch one.txt')), say('Done.')],
  })
  await app.startSession({ prompt: 'Make a file, twice' })
  await app.expectCard('Bash')
  await app.inCard('always-allow').click()
  await app.card.locator('[data-testid="rule-place"][data-place="agent"]').click()
  const rule = app.inCard('always').locator('label', { hasText: 'Bash(touch one.txt' })
  await expect(rule).toContainText('.claude/settings.local.json')
  await rule.getByTestId('always-offer').check()
  await app.inCard('always-confirm').click()

  // The second one is not asked any more, and no other offer was taken with the first.
  await expect(app.transcript).toContainText('Done.')
  await expect(app.decisions).toHaveCount(1)
  await app.expectMode('default')
  const settings = join(folders.project, '.claude/settings.local.json')
  expect(existsSync(settings)).toBe(true)
  expect(fileText(folders, '.claude/settings.local.json')).toContain('Bash(touch one.txt')
})

test('the card says why it is asked, where, for how long and by whom', async ({ app, model }) => {
  const outside = '/var/tmp/sayso-not-made.txt'
  model.play({
    main: [
      use(
        tool('call', 'Bash', { command: `touch ${outside}`, description: 'Note', timeout: 60000 }),
      ),
      say('Done.'),
    ],
  })
  await app.startSession({ prompt: 'Write elsewhere' })
  await app.expectCard('Bash')
  await expect(app.inCard('request-reason')).toContainText('Asked because')
  await expect(app.inCard('request-reason')).toContainText(outside)
  await expect(app.inCard('request-facts')).toContainText('1 min')
  await expect(app.inCard('request-description')).toContainText('The agent says:')
  await expect(app.card.locator('[data-testid="request-risk"]').first()).toBeVisible()
  await app.inCard('deny-stop').click()
  await app.expectNoCard()
  await app.expectState('user_turn')
  expect(existsSync(outside)).toBe(false)
})

test('a rule that says ask is named by where it stands', async ({ app, model, folders }) => {
  mkdirSync(join(folders.home, '.claude'), { recursive: true })
  const settings = { permissions: { ask: ['Bash(ls:*)'] } }
  writeFileSync(join(folders.home, '.claude/settings.json'), JSON.stringify(settings))
  model.play({ main: [use(bash('call', 'ls')), say('Done.')] })
  await app.startSession({ prompt: 'List' })
  await app.expectCard('Bash')
  await expect(app.inCard('request-reason')).toContainText('a rule of the agent says to ask')
  await expect(app.inCard('request-reason')).toContainText('~/.claude/settings.json')
  await app.allow()
  await expect(app.transcript).toContainText('Done.')
})

test('Esc and Enter in the reason: back without loss, then sent', async ({ app, model }) => {
  model.play({ main: [use(bash('call', 'touch no.txt')), say('Understood.')] })
  await app.startSession({ prompt: 'Make the file' })
  await app.expectCard('Bash')
  await app.inCard('deny').click()
  await app.inCard('deny-reason').fill('Not today')
  await app.page.keyboard.press('Escape')
  await expect(app.inCard('allow')).toBeVisible()
  await app.page.reload()
  await app.inCard('deny').click()
  await expect(app.inCard('deny-reason')).toHaveValue('Not today')
  await app.inCard('deny-reason').press('Enter')
  expect(await model.toolResult('call')).toEqual({ text: 'Not today', isError: true })
})
