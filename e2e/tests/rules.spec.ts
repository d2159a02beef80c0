/** Rules made by hand, on the real agent. */
import { fileExists } from '../fixtures/files.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, say, use, write } from '../model/script.ts'

test('a command is allowed for a minute by its first words, then asked again', async ({
  app,
  model,
  folders,
}) => {
  test.setTimeout(240_000)
  model.play({
    main: [
      use(bash('first', 'mkdir -p made/one')),
      use(bash('second', 'mkdir -p made/two')),
      say('Two are made.'),
      use(bash('third', 'mkdir -p made/three')),
      say('Three are made.'),
    ],
  })
  await app.startSession({ prompt: 'Make two folders' })
  await app.expectCard('Bash')
  await app.inCard('always-allow').click()
  await app.card.locator('[data-testid="rule-suggestion"][data-kind="prefix"]').click()
  await expect(app.inCard('rule-text').first()).toHaveValue(/^Bash\(mkdir/)
  await app.inCard('rule-lifetime').selectOption('minutes')
  await app.inCard('rule-lifetime-amount').fill('1')
  await expect(app.inCard('rule-match').first()).toContainText('mkdir -p made/one')
  await app.inCard('rule-save').click()
  const saved = Date.now()

  // The second one runs unasked.
  await expect(app.transcript).toContainText('Two are made.')
  await expect(app.decisions).toHaveText([/Allowed by you/, /Allowed by rule Bash\(mkdir/])
  expect(fileExists(folders, 'made/two')).toBe(true)

  await app.visit('/rules')
  const row = app.page.getByTestId('rule-row')
  await expect(row).toContainText('Bash(mkdir')
  await expect(row).toContainText('1')
  await app.page.goBack()

  // A minute later it is asked.
  await app.page.waitForTimeout(Math.max(0, saved + 61_000 - Date.now()))
  await app.send('And a third')
  await app.expectCard('Bash')
  expect(fileExists(folders, 'made/three')).toBe(false)
  await app.allow()
  await expect(app.transcript).toContainText('Three are made.')
})

test('a part that no rule covers is asked and named', async ({ app, model, socket, folders }) => {
  const rule = await socket.request({
    type: 'add_rule',
    rule: 'Bash(mkdir:*)',
    effect: 'allow',
    scope: { kind: 'project', path: folders.project },
  })
  expect(rule.type).toBe('ack')
  model.play({ main: [use(bash('call', 'mkdir made && touch made/file.txt')), say('Done.')] })
  await app.startSession({ prompt: 'Make it' })
  await app.expectCard('Bash')
  await expect(app.inCard('request-rules')).toContainText('touch made/file.txt')
  await expect(app.inCard('request-rules')).not.toContainText('mkdir made')
  await app.allow()
  await expect(app.transcript).toContainText('Done.')
})

test('while the agent plans, no rule lets it write', async ({ app, model, socket, folders }) => {
  const rule = await socket.request({
    type: 'add_rule',
    rule: 'Edit(**)',
    effect: 'allow',
    scope: { kind: 'project', path: folders.project },
    confirm_broad: true,
  })
  expect(rule.type, JSON.stringify(rule)).toBe('ack')
  model.play({ main: [use(write('write', 'early.txt', 'too early\n')), say('I will wait.')] })
  await app.startSession({ prompt: 'Plan it', mode: 'plan' })
  await app.expectCard('Write')
  await app.deny('Plan first.')
  await expect(app.transcript).toContainText('I will wait.')
  expect(fileExists(folders, 'early.txt')).toBe(false)
})

test('always deny remembers the reason, and the model reads it', async ({
  app,
  model,
  folders,
}) => {
  const reason = 'Folders are made by hand here.'
  model.play({
    main: [
      use(bash('first', 'mkdir one')),
      use(bash('second', 'mkdir two')),
      say('I will not try again.'),
    ],
  })
  await app.startSession({ prompt: 'Make folders' })
  await app.expectCard('Bash')
  await app.inCard('deny').click()
  await app.inCard('always-deny').click()
  await app.card.locator('[data-testid="rule-suggestion"][data-kind="prefix"]').click()
  await app.inCard('rule-reason').fill(reason)
  await app.inCard('rule-save').click()

  await expect(app.transcript).toContainText('I will not try again.')
  expect(await model.toolResult('first')).toEqual({ text: reason, isError: true })
  const second = await model.toolResult('second')
  expect(second.isError).toBe(true)
  expect(second.text).toContain(reason)
  await expect(app.decisions).toHaveText([/Denied by you/, /Denied by rule Bash\(mkdir/])
  expect([fileExists(folders, 'one'), fileExists(folders, 'two')]).toEqual([false, false])
})

test('the page of rules adds, tests, switches off, removes and brings back', async ({ app }) => {
  await app.visit('/rules')
  const page = app.page
  await expect(page.getByTestId('rules-page')).toContainText('No rule yet')
  await page.getByTestId('rule-add').first().click()
  await page.getByTestId('rule-text').fill('Bash(sudo:*)')
  await expect(page.getByTestId('rule-broad')).toBeVisible()
  await page.getByTestId('rule-text').fill('Bash(git status)')
  await page.getByTestId('rule-save').click()
  const row = page.locator('[data-testid="rule-row"]:not([data-removed])')
  await expect(row).toHaveCount(1)

  await page.getByTestId('rule-test-input').fill('git status && rm -rf build')
  await page.getByTestId('rule-test-run').click()
  const result = page.getByTestId('rule-test-result')
  await expect(result).toHaveAttribute('data-decision', 'ask')
  await expect(result).toContainText('rm -rf build')

  await row.getByTestId('rule-enable').click()
  await page.getByTestId('rule-test-input').fill('git status')
  await page.getByTestId('rule-test-run').click()
  await expect(result).toHaveAttribute('data-decision', 'ask')
  await row.getByTestId('rule-enable').click()
  await page.getByTestId('rule-test-run').click()
  await expect(result).toHaveAttribute('data-decision', 'allow')

  await row.getByTestId('rule-delete').click()
  await expect(row).toHaveCount(0)
  await page.getByTestId('rule-undo').click()
  await expect(row).toHaveCount(1)
})
