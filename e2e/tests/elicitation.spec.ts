import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { App } from '../fixtures/app.ts'
import type { Folders } from '../fixtures/server.ts'
import { expect, test } from '../fixtures/test.ts'
import type { ScriptedModel } from '../model/server.ts'
import { say, tool, use } from '../model/script.ts'

const PROGRAM = fileURLToPath(new URL('../fixtures/form-server.mjs', import.meta.url))

/** Starts a session whose agent calls a tool that turns to the human. */
async function callTool(
  name: string,
  { app, model, folders }: { app: App; model: ScriptedModel; folders: Folders },
): Promise<void> {
  const forms = { command: process.execPath, args: [PROGRAM] }
  writeFileSync(join(folders.project, '.mcp.json'), JSON.stringify({ mcpServers: { forms } }))
  model.play({ main: [use(tool('call', `mcp__forms__${name}`, {})), say('Thank you.')] })
  await app.fillNewSession({ prompt: 'Ask me' })
  await app.page.getByTestId('new-session-start').click()
  await app.page.getByTestId('trust-folder-settings').click()
  await app.expectCard(`mcp__forms__${name}`)
  await expect(app.inCard('request-server')).toHaveText('forms')
  await app.allow()
  await expect(app.card).toHaveAttribute('data-request-type', 'elicitation')
}

test('a form is filled in, checked, and its content reaches the tool server', async ({
  app,
  model,
  folders,
}) => {
  await callTool('ask_form', { app, model, folders })
  const field = (name: string) => app.card.locator(`[data-field="${name}"]`)
  await expect(app.inCard('request-description')).toContainText('Where shall it go?')

  await field('replicas').fill('12')
  await field('contact').fill('nobody')
  await app.inCard('elicit-submit').click()
  await expect(app.card.getByRole('alert')).toHaveText([
    'This is needed.',
    'This must be at most 9.',
    'This must be an email address.',
  ])

  await field('environment').selectOption('staging')
  await field('replicas').fill('3')
  await field('contact').fill('ops@example.org')
  await field('dry').check()
  await app.inCard('elicit-submit').click()

  const { text } = await model.toolResult('call')
  expect(JSON.parse(text)).toEqual({
    action: 'accept',
    content: { environment: 'staging', replicas: 3, contact: 'ops@example.org', dry: true },
  })
  await expect(app.transcript).toContainText('Thank you.')
})

for (const [button, action] of [
  ['elicit-decline', 'decline'],
  ['elicit-cancel', 'cancel'],
] as const) {
  test(`a form can be answered with ${action}`, async ({ app, model, folders }) => {
    await callTool('ask_form', { app, model, folders })
    await app.inCard(button).click()
    const { text } = await model.toolResult('call')
    expect(JSON.parse(text)).toMatchObject({ action })
  })
}

test('a page to open is shown with its host first', async ({ app, model, folders }) => {
  await callTool('ask_page', { app, model, folders })
  await expect(app.card.getByRole('strong')).toHaveText('login.example.org')
  await expect(app.inCard('request-path')).toHaveText('https://login.example.org/device?code=ABC')
  const link = app.card.getByRole('link')
  await expect(link).toHaveAttribute('href', 'https://login.example.org/device?code=ABC')
  await expect(link).toHaveAttribute('rel', /noopener/)
  await app.inCard('elicit-submit').click()
  expect(JSON.parse((await model.toolResult('call')).text)).toMatchObject({ action: 'accept' })
})
