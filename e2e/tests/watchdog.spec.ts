/** What the real agent does without asking. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { fileExists } from '../fixtures/files.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, read, say, use, write } from '../model/script.ts'

/** A hook of the human's own that lets every Write through: Sayso is never asked. */
const letsWritesThrough = {
  hooks: {
    PreToolUse: [
      {
        matcher: 'Write',
        hooks: [
          {
            type: 'command',
            command: `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`,
          },
        ],
      },
    ],
  },
}

test('a tool that ran without asking is told in red until somebody has seen it', async ({
  app,
  model,
  folders,
}) => {
  mkdirSync(join(folders.home, '.claude'), { recursive: true })
  writeFileSync(join(folders.home, '.claude/settings.json'), JSON.stringify(letsWritesThrough))
  model.play({ main: [use(write('quiet', 'quiet.txt', 'hello\n')), say('Done.')] })
  await app.startSession({ prompt: 'Write it' })
  const alert = app.page.getByTestId('unasked-alert')
  await expect(alert).toContainText('Write')
  await expect(alert).toContainText('quiet.txt')
  expect(fileExists(folders, 'quiet.txt')).toBe(true)
  await expect(app.page.getByTestId('unasked-entry')).toContainText('quiet.txt')

  await app.page.reload()
  await expect(alert).toBeVisible()
  await app.page.getByTestId('unasked-dismiss').click()
  await expect(alert).toBeHidden()
  await expect(app.page.getByTestId('unasked-entry')).toBeVisible()
})

test.describe('with the policy to stop', () => {
  test.use({ config: '[policies]\non_unasked = "stop"\n' })

  test('the agent is stopped for it', async ({ app, model, folders }) => {
    mkdirSync(join(folders.home, '.claude'), { recursive: true })
    writeFileSync(join(folders.home, '.claude/settings.json'), JSON.stringify(letsWritesThrough))
    model.play({
      main: [use(write('quiet', 'quiet.txt', 'hello\n')), say('Done.')],
    })
    await app.startSession({ prompt: 'Write it' })
    await expect(app.page.getByTestId('unasked-alert')).toContainText('stopped')
    await app.expectState('dead')
  })
})

test('a denial reaches what the agent never asks about, and so does a wish to be asked', async ({
  app,
  model,
  socket,
  folders,
}) => {
  writeFileSync(join(folders.project, 'notes.txt'), 'nothing to see\n')
  const reason = 'Notes are private.'
  for (const rule of [
    { rule: 'Read(notes.txt)', effect: 'deny', reason, minutes: 5 },
    { rule: 'Bash(cat:*)', effect: 'deny', reason },
    { rule: 'Bash(ls:*)', effect: 'ask' },
  ]) {
    const added = await socket.request({
      type: 'add_rule',
      scope: { kind: 'project', path: folders.project },
      ...rule,
    })
    expect(added.type, JSON.stringify(added)).toBe('ack')
  }
  model.play({
    main: [
      use(read('read', 'notes.txt')),
      use(bash('cat', 'cat notes.txt')),
      use(bash('list', 'ls')),
      say('Done.'),
    ],
  })
  await app.startSession({ prompt: 'Look around' })
  await app.expectCard('Bash')
  await expect(app.card).toContainText('ls')
  for (const id of ['read', 'cat']) {
    const result = await model.toolResult(id)
    expect(result.isError).toBe(true)
    expect(result.text).toContain(reason)
  }
  await app.allow()
  await expect(app.transcript).toContainText('Done.')
  expect((await model.toolResult('list')).isError).toBe(false)
  await expect(app.decisions).toHaveText([
    /Denied by rule Read\(notes.txt\)/,
    /Denied by rule .*Bash\(cat/,
    /Allowed by you/,
  ])
})

test('the rules that the agent goes by itself are shown, with the denials it was given', async ({
  app,
  model,
  socket,
  folders,
}) => {
  mkdirSync(join(folders.home, '.claude'), { recursive: true })
  const permissions = { allow: ['Bash(make check)'] }
  writeFileSync(join(folders.home, '.claude/settings.json'), JSON.stringify({ permissions }))
  await socket.request({
    type: 'add_rule',
    rule: 'Bash(curl:*)',
    effect: 'deny',
    scope: { kind: 'everywhere' },
  })
  model.play({ main: [say('Hello.')] })
  await app.startSession({ prompt: 'Hello' })
  await expect(app.transcript).toContainText('Hello.')
  await app.visit('/rules')
  const rules = app.page.getByTestId('agent-rules')
  await expect(rules).toContainText('Bash(make check)')
  await expect(rules).toContainText('Bash(curl:*)')
})
