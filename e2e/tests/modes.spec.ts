import { fileExists } from '../fixtures/files.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, type MessagesRequest, say, tool, use, write } from '../model/script.ts'

test('a mode that would not have asked settles the open request', async ({
  app,
  model,
  folders,
}) => {
  model.play({
    main: [use(write('one', 'one.txt', '1\n')), use(write('two', 'two.txt', '2\n')), say('Done.')],
  })
  await app.startSession({ prompt: 'Write two files' })
  await app.expectCard('Write')

  await app.setMode('acceptEdits')

  await expect(app.page.getByTestId('transcript')).toContainText('Done.')
  await app.expectNoCard()
  await expect(app.decisions).toHaveText([/Allowed by.*mode/i])
  await app.expectMode('acceptEdits')
  expect([fileExists(folders, 'one.txt'), fileExists(folders, 'two.txt')]).toEqual([true, true])
})

/** The agent names the file that it wants the plan in. */
function planFile(request: MessagesRequest): string {
  const path = /[^\s"'`\\]*\/plans\/[\w-]+\.md/.exec(JSON.stringify(request))?.[0]
  if (!path) throw new Error('The agent named no plan file.')
  return path
}

test('an approved plan ends plan mode and nothing else', async ({ app, model, folders }) => {
  model.play({
    main: [
      (request) =>
        use(
          tool('plan', 'Write', {
            file_path: planFile(request),
            content: '# The plan\n\n1. Write it\n',
          }),
        ),
      use(tool('exit', 'ExitPlanMode', {})),
      use(write('write', 'planned.txt', 'as planned\n')),
      say('Done as planned.'),
    ],
  })
  await app.startSession({ prompt: 'Plan it', mode: 'plan' })

  await app.expectCard('ExitPlanMode')
  await expect(app.card).toHaveAttribute('data-request-type', 'plan_approval')
  await expect(app.inCard('plan-text')).toContainText('Write it')
  await app.allow()

  expect((await model.toolResult('exit')).text).toContain('User has approved your plan')
  // The approval is not a wider one: the next write is still asked.
  await app.expectCard('Write')
  await app.expectMode('default')
  expect(fileExists(folders, 'planned.txt')).toBe(false)
  await app.allow()
  await expect(app.page.getByTestId('transcript')).toContainText('Done as planned.')
  expect(fileExists(folders, 'planned.txt')).toBe(true)
})

test('a rejected plan leaves plan mode on and the model reads why', async ({ app, model }) => {
  model.play({
    main: [
      (request) =>
        use(tool('plan', 'Write', { file_path: planFile(request), content: '# The plan\n' })),
      use(tool('exit', 'ExitPlanMode', {})),
      say('I will think again.'),
    ],
  })
  await app.startSession({ prompt: 'Plan it', mode: 'plan' })

  await app.expectCard('ExitPlanMode')
  await app.deny('Too short.')

  expect(await model.toolResult('exit')).toEqual({ text: 'Too short.', isError: true })
  await expect(app.page.getByTestId('transcript')).toContainText('I will think again.')
  await app.expectMode('plan')
})

test.describe('the mode that asks nothing', () => {
  // Run by root, the agent refuses this mode unless it is told that it is in a sandbox.
  test.use({ config: 'pass_environment = ["IS_SANDBOX"]\n', environment: { IS_SANDBOX: '1' } })

  test('refuses what is open, says so, and goes on with the history', async ({
    app,
    model,
    folders,
  }) => {
    model.play({
      main: [
        use(bash('asked', 'touch asked.txt')),
        use(bash('unasked', 'touch unasked.txt')),
        say('Done without asking.'),
      ],
    })
    await app.startSession({ prompt: 'Make two files' })
    await app.expectCard('Bash')

    await app.setMode('bypassPermissions')
    await app.page.getByTestId('bypass-confirm').click()

    await app.expectNoCard()
    await app.expectMode('bypassPermissions')
    await app.expectState('user_turn')
    await expect(app.transcript).toContainText('started again for the mode bypassPermissions')
    expect(fileExists(folders, 'asked.txt')).toBe(false)

    await app.send('Now the second one')
    await expect(app.transcript).toContainText('Done without asking.')
    expect(fileExists(folders, 'unasked.txt')).toBe(true)
    // The new process knows what was said to the old one.
    expect(JSON.stringify(model.requests.at(-1))).toContain('Make two files')
  })
})
