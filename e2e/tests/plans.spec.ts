import { fileExists } from '../fixtures/files.ts'
import { expect, test } from '../fixtures/test.ts'
import { type MessagesRequest, say, tool, type Turn, use, write } from '../model/script.ts'

/** The agent names the file that it wants the plan in. */
function planFile(request: MessagesRequest): string {
  const path = /[^\s"'`\\]*\/plans\/[\w-]+\.md/.exec(JSON.stringify(request))?.[0]
  if (!path) throw new Error('The agent named no plan file.')
  return path
}

function writePlan(id: string, content: string): (request: MessagesRequest) => Turn {
  return (request) => use(tool(id, 'Write', { file_path: planFile(request), content }))
}

test('a plan is rejected with comments, then approved into a chosen mode', async ({
  app,
  model,
  folders,
}) => {
  model.play({
    main: [
      writePlan('plan-1', '# The plan\n\nFirst we wait.\n\nThen we write it.\n'),
      use(tool('exit-1', 'ExitPlanMode', {})),
      writePlan('plan-2', '# The plan\n\nFirst we test.\n\nThen we write it.\n'),
      use(tool('exit-2', 'ExitPlanMode', {})),
      use(write('write', 'planned.txt', 'as planned\n')),
      say('Done as planned.'),
    ],
  })
  await app.startSession({ prompt: 'Plan it', mode: 'plan' })
  await app.expectCard('ExitPlanMode')
  const first = await app.card.getAttribute('data-request-id')
  await expect(app.inCard('plan-changes')).toHaveCount(0)

  const block = app.inCard('plan-block').filter({ hasText: 'First we wait.' })
  await block.hover()
  await block.getByTestId('plan-comment').click()
  await app.inCard('plan-comment-text').fill('No waiting, please.')
  await app.inCard('deny').click()
  await app.inCard('deny-reason').fill('Almost.')
  await app.inCard('deny-confirm').click()

  const { text, isError } = await model.toolResult('exit-1')
  expect(isError).toBe(true)
  expect(text).toContain('> First we wait.')
  expect(text).toContain('No waiting, please.')
  expect(text).toContain('Almost.')

  await expect(app.card).not.toHaveAttribute('data-request-id', first ?? '')
  await app.expectCard('ExitPlanMode')
  await app.inCard('plan-changes').click()
  await expect(app.inCard('plan-diff')).toContainText('First we wait.')
  await expect(app.inCard('plan-diff')).toContainText('First we test.')
  const modes = app.card.locator('[data-testid="plan-mode"]')
  const offered = await modes.evaluateAll((rows) =>
    rows.map((row) => row.getAttribute('data-mode')),
  )
  expect(offered).not.toContain('bypassPermissions')
  expect(offered).not.toContain('auto')
  await app.card.locator('[data-testid="plan-mode"][data-mode="acceptEdits"]').click()
  await app.allow()

  // In the chosen mode the write is not asked.
  await expect(app.transcript).toContainText('Done as planned.')
  await app.expectMode('acceptEdits')
  expect(fileExists(folders, 'planned.txt')).toBe(true)
})

test('an edited plan is what the model works from', async ({ app, model }) => {
  model.play({
    main: [
      writePlan('plan', '# The plan\n\nWrite it.\n'),
      use(tool('exit', 'ExitPlanMode', {})),
      say('Understood.'),
    ],
  })
  await app.startSession({ prompt: 'Plan it', mode: 'plan' })
  await app.expectCard('ExitPlanMode')
  await app.inCard('edit').click()
  await app.retype('plan-edit', '# The plan\n\nWrite it twice.\n')
  await app.allow()

  const { text } = await model.toolResult('exit')
  expect(text).toContain('edited by user')
  expect(text).toContain('Write it twice.')
  await app.expectMode('default')
})
