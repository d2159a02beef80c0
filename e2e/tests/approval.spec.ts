import { fileExists, fileText } from '../fixtures/files.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, edit, read, say, use, write } from '../model/script.ts'

test('an approved command runs', async ({ app, model, folders }) => {
  model.play({
    main: [use(bash('call', 'touch approved.txt && echo finished')), say('It is done.')],
  })
  await app.startSession({ prompt: 'Make the file' })

  await app.expectCard('Bash')
  await expect(app.inCard('request-command')).toHaveText('touch approved.txt && echo finished')
  expect(fileExists(folders, 'approved.txt')).toBe(false)
  await app.allow()

  await app.expectNoCard()
  expect(await model.toolResult('call')).toEqual({ text: 'finished', isError: false })
  expect(fileExists(folders, 'approved.txt')).toBe(true)
  await expect(app.decisions).toHaveText([/Allowed by you/])
  await expect(app.page.getByTestId('transcript')).toContainText('It is done.')
  await app.expectState('user_turn')
})

test('a denied command does not run and the model reads exactly the reason', async ({
  app,
  model,
  folders,
}) => {
  const reason = 'Not in this folder: use "build/" instead.'
  model.play({ main: [use(bash('call', 'touch refused.txt')), say('Understood.')] })
  await app.startSession({ prompt: 'Make the file' })

  await app.expectCard('Bash')
  await app.deny(reason)

  await app.expectNoCard()
  expect(await model.toolResult('call')).toEqual({ text: reason, isError: true })
  await app.expectState('user_turn')
  expect(fileExists(folders, 'refused.txt')).toBe(false)
  await expect(app.decisions).toHaveText([/Denied by you/])
})

test('an edited command runs in place of the one that was asked for', async ({
  app,
  model,
  folders,
}) => {
  model.play({ main: [use(bash('call', 'touch asked.txt')), say('Done.')] })
  await app.startSession({ prompt: 'Make the file' })

  await app.expectCard('Bash')
  await app.allowEdited('touch edited.txt && echo edited')

  expect(await model.toolResult('call')).toEqual({ text: 'edited', isError: false })
  await app.expectState('user_turn')
  expect([fileExists(folders, 'asked.txt'), fileExists(folders, 'edited.txt')]).toEqual([
    false,
    true,
  ])
})

test('files are written and edited as shown', async ({ app, model, folders }) => {
  model.play({
    main: [
      use(write('write', 'notes.txt', 'one\ntwo\n')),
      use(read('read', 'notes.txt')),
      use(edit('edit', 'notes.txt', 'two', 'three')),
      say('Both done.'),
    ],
  })
  await app.startSession({ prompt: 'Write notes' })

  await app.expectCard('Write')
  await expect(app.inCard('request-path')).toContainText('notes.txt')
  await expect(app.inCard('request-content')).toContainText('two')
  await app.allow()

  await app.expectCard('Edit')
  expect(fileText(folders, 'notes.txt')).toBe('one\ntwo\n')
  await expect(app.inCard('request-diff')).toContainText('three')
  await app.allow()

  await app.expectState('user_turn')
  expect(fileText(folders, 'notes.txt')).toBe('one\nthree\n')
})

test('an edited file content is what lands on the disk', async ({ app, model, folders }) => {
  model.play({ main: [use(write('write', 'notes.txt', 'from the model\n')), say('Done.')] })
  await app.startSession({ prompt: 'Write notes' })

  await app.expectCard('Write')
  await app.allowEdited('from the human\n')

  await app.expectState('user_turn')
  expect(fileText(folders, 'notes.txt')).toBe('from the human\n')
})

test('deny and stop ends the turn, and the next message begins another', async ({
  app,
  model,
  folders,
}) => {
  model.play({ main: [use(bash('call', 'touch stopped.txt')), say('A new start.')] })
  await app.startSession({ prompt: 'Make the file' })

  await app.expectCard('Bash')
  await app.inCard('deny-stop').click()

  await app.expectNoCard()
  await expect(app.turnsEnded).toHaveCount(1)
  await app.expectState('user_turn')
  expect(fileExists(folders, 'stopped.txt')).toBe(false)
  await app.send('Something else')
  await expect(app.page.getByTestId('transcript')).toContainText('A new start.')
})

test('a command is approved with the keyboard alone', async ({ app, model, folders }) => {
  model.play({ main: [use(bash('call', 'touch by-keyboard.txt')), say('Done.')] })
  await app.startSession({ prompt: 'Make the file' })
  await app.expectCard('Bash')

  // As far as it takes, but not for ever when the button cannot be reached.
  const focused = (): Promise<string | undefined> =>
    app.page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset['testid'])
  for (let steps = 0; steps < 100 && (await focused()) !== 'allow'; steps += 1) {
    await app.page.keyboard.press('Tab')
  }
  expect(await focused()).toBe('allow')
  // Behind the last element the browser itself has the focus, and who has just come back decides nothing.
  await expect(async () => {
    await app.page.keyboard.press('Enter')
    await expect(app.card).toHaveCount(0, { timeout: 1000 })
  }).toPass()

  expect(await model.toolResult('call')).toEqual({
    text: '(Bash completed with no output)',
    isError: false,
  })
  expect(fileExists(folders, 'by-keyboard.txt')).toBe(true)
})
