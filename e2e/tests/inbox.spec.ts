/** Requests of several sessions in one place. */
import type { App } from '../fixtures/app.ts'
import { fileExists } from '../fixtures/files.ts'
import { expect, test } from '../fixtures/test.ts'
import { ask, bash, question, say, type Script, use } from '../model/script.ts'

/** Each session's model is told apart by its first message. */
function sessions(turns: Record<string, Script['main']>): Script {
  const agents = Object.entries(turns).map(([match, turns]) => ({ match, turns }))
  return { main: [], agents }
}

async function start(app: App, ...prompts: string[]): Promise<void> {
  for (const prompt of prompts) {
    await app.page.goto(new URL('/new', app.page.url()).href)
    await app.startSession({ prompt })
    await expect(app.card.first()).toBeVisible()
  }
  await app.page.keyboard.press('g')
  await app.page.keyboard.press('i')
}

test('requests of all sessions are triaged with the keyboard, each on its own', async ({
  app,
  model,
  folders,
}) => {
  model.play(
    sessions({
      'MARK-A': [use(bash('a', 'touch a.txt')), say('A is done.')],
      'MARK-B': [use(bash('b', 'touch b.txt')), say('B is done.')],
      'MARK-C': [use(ask('c', question('Which?', 'Pick', ['One', 'Two']))), say('C is done.')],
    }),
  )
  await start(app, 'MARK-A go', 'MARK-B go', 'MARK-C go')
  const rows = app.page.getByTestId('inbox-item')
  await expect(rows).toHaveCount(3)
  await expect(app.page).toHaveTitle(/^\(3\)/)
  await expect(app.inCard('request-command')).toHaveText('touch a.txt')

  // Selecting and moving decide nothing.
  await app.page.keyboard.press('j')
  await expect(app.inCard('request-command')).toHaveText('touch b.txt')
  await app.page.keyboard.press('Enter')
  await expect(app.card).toBeFocused()
  // A new card takes no keys in its first moment.
  await expect(app.inCard('deny')).toBeEnabled()
  await app.page.keyboard.press('d')
  await app.inCard('deny-reason').fill('Not b.')
  await app.page.keyboard.press('Enter')
  expect(await model.toolResult('b')).toEqual({ text: 'Not b.', isError: true })

  // The next one takes its place; the others are untouched.
  await app.expectCard('AskUserQuestion')
  await expect(app.inCard('answer-skip')).toBeEnabled()
  await app.card.focus()
  await app.page.keyboard.press('2')
  await app.page.keyboard.press('Enter')
  expect((await model.toolResult('c')).text).toContain('"Which?"="Two"')
  await expect(app.inCard('request-command')).toHaveText('touch a.txt')
  expect(fileExists(folders, 'a.txt')).toBe(false)
  await app.allow()
  await model.toolResult('a')
  expect([fileExists(folders, 'a.txt'), fileExists(folders, 'b.txt')]).toEqual([true, false])
  await expect(app.page.getByTestId('inbox-empty')).toContainText('Nothing is waiting.')
})

test('several are decided at once, each with its own result', async ({ app, model, folders }) => {
  model.play(
    sessions({
      'MARK-A': [use(bash('a', 'touch a.txt')), say('A is done.')],
      'MARK-B': [use(bash('b', 'rm -rf b')), say('B is done.')],
      'MARK-C': [use(bash('c', 'touch c.txt')), say('C is done.')],
    }),
  )
  await start(app, 'MARK-A go', 'MARK-B go', 'MARK-C go')
  await expect(app.page.getByTestId('inbox-item')).toHaveCount(3)
  // Each was seen in its own session; a reload forgets that.
  await app.page.reload()
  const boxes = app.page.getByTestId('inbox-select')
  await expect(boxes).toHaveCount(3)
  for (const index of [0, 1, 2]) await boxes.nth(index).check()

  const allow = app.page.getByTestId('inbox-group-allow')
  // Only the one in view has been read, and what deletes is never allowed in a group.
  await expect(allow).toHaveText(/Allow 1/)
  await expect(app.page.getByTestId('inbox-group')).toContainText('not read yet')
  await allow.click()
  expect((await model.toolResult('a')).isError).toBe(false)
  await expect(app.page.getByTestId('inbox-item').first()).toContainText('Allowed by you')

  await app.page.getByTestId('inbox-group-deny').click()
  expect((await model.toolResult('b')).isError).toBe(true)
  expect((await model.toolResult('c')).isError).toBe(true)
  expect([fileExists(folders, 'a.txt'), fileExists(folders, 'c.txt')]).toEqual([true, false])
  await expect(app.page.getByTestId('inbox-empty')).toBeVisible()
})
