import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { fileExists } from '../fixtures/files.ts'
import type { Folders } from '../fixtures/server.ts'
import { askInTerminal } from '../fixtures/terminal.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, plainText, say, subagent, use } from '../model/script.ts'

/** One red pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='

test('a session is there after a restart of the server, and goes on', async ({
  app,
  model,
  server,
}) => {
  model.play({ main: [say('I noted apricot.'), say('It was apricot.')] })
  await app.startSession({ prompt: 'The word is apricot' })
  await app.expectState('user_turn')
  const session = app.sessionId

  await server.restart()

  await app.expectConnected()
  await app.expectState('dead')
  await expect(app.transcript).toContainText('I noted apricot.')
  await app.send('What was the word?')
  await expect(app.transcript).toContainText('It was apricot.')
  expect(app.sessionId).toBe(session)
  const sent = model.requests.at(-1)?.messages.map(({ content }) => plainText(content))
  expect(sent?.join('\n')).toMatch(
    /The word is apricot[^]*I noted apricot\.[^]*What was the word\?/,
  )
})

test('a conversation from the terminal is listed, opened and gone on with', async ({
  app,
  model,
  folders,
}) => {
  model.play({
    main: [
      use(bash('old', 'echo from the terminal')),
      say('Noted apricot.'),
      say('It was apricot.'),
    ],
  })
  await askInTerminal(folders, model.url, 'Remember apricot')

  await app.visit('/new')
  await app.page.getByTestId('new-session-cwd').fill(folders.project)
  const conversation = app.page.getByTestId('conversation')
  await expect(conversation).toHaveText([/Remember apricot/])
  await conversation.click()

  await expect(app.transcript).toContainText('Noted apricot.')
  await expect(app.page.getByTestId('user-message')).toHaveText([/Remember apricot/])
  await app.toolCall('old').getByRole('button').first().click()
  await expect(app.transcript.getByTestId('tool-result')).toContainText('from the terminal')
  await app.expectState('dead')

  await app.send('What was it?')
  await expect(app.transcript).toContainText('It was apricot.')
  const sent = model.requests.at(-1)?.messages.map(({ content }) => plainText(content))
  expect(sent?.join('\n')).toMatch(/Remember apricot[^]*Noted apricot\.[^]*What was it\?/)
})

test('queued messages can be changed and taken back until the agent reads them', async ({
  app,
  model,
}) => {
  model.play({ main: [use(bash('call', 'touch queue.txt')), say('Read it.')] })
  await app.startSession({ prompt: 'Make the file' })
  await app.expectCard('Bash')
  await app.page.getByTestId('composer-queue').click()
  await app.send('Never mind this')
  await app.send('Use tabs')
  const queued = app.page.getByTestId('queued-message')
  await expect(queued).toHaveCount(2)

  await queued.filter({ hasText: 'Use tabs' }).getByTestId('queued-edit').click()
  await app.page.getByTestId('queued-input').fill('Use spaces')
  await app.page.getByTestId('queued-save').click()
  await expect(queued.filter({ hasText: 'Use spaces' })).toHaveCount(1)
  await queued.filter({ hasText: 'Never mind' }).getByTestId('queued-remove').click()
  await expect(queued).toHaveCount(1)
  await app.allow()

  await model.heard('Use spaces')
  await expect(app.transcript).toContainText('Read it.')
  await expect(queued).toHaveCount(0)
  await expect(app.page.getByTestId('user-message')).toHaveText([/Make the file/, /Use spaces/])
  const everything = JSON.stringify(model.requests)
  expect([everything.includes('Never mind this'), everything.includes('Use tabs')]).toEqual([
    false,
    false,
  ])
})

test('an image in a message reaches the model and is shown', async ({ app, model }) => {
  model.play({ main: [say('Ready.'), say('It is red.')] })
  await app.startSession({ prompt: 'Hello' })
  await app.expectState('user_turn')
  await app.page.getByTestId('attach-input').setInputFiles({
    name: 'pixel.png',
    mimeType: 'image/png',
    buffer: Buffer.from(PIXEL, 'base64'),
  })
  await expect(app.page.getByTestId('attachment')).toHaveCount(1)
  await app.send('Which colour is this?')

  await expect(app.transcript).toContainText('It is red.')
  await expect(app.page.getByTestId('user-message').last().getByRole('img')).toBeVisible()
  const image = JSON.stringify(model.requests.at(-1)?.messages).match(
    /"type":"image","source":\{[^}]*"media_type":"image\/png"/,
  )
  expect(image).not.toBeNull()
})

test('the work of a subagent stands inside its call, under its name', async ({ app, model }) => {
  model.play({
    main: [use(subagent('sub', 'Count the files', 'MARK-SUB go')), say('It counted.')],
    agents: [
      { match: 'MARK-SUB', turns: [use(bash('inner', 'touch counted')), say('There is one.')] },
    ],
  })
  await app.startSession({ prompt: 'Count' })
  await app.allow()
  await expect(app.transcript).toContainText('It counted.')

  const call = app.page.locator('[data-testid="entry"]', { has: app.toolCall('sub') }).first()
  await expect(call).toContainText('Count the files')
  const inner = call.locator('[data-tool-use-id="inner"]')
  if (!(await inner.isVisible())) await app.toolCall('sub').getByRole('button').first().click()
  await expect(inner).toBeVisible()
})

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })

  test('a session is started, answered, found again and written to', async ({ app, model }) => {
    model.play({ main: [use(bash('call', 'touch phone.txt')), say('Done.'), say('Still here.')] })
    await app.startSession({ prompt: 'Make the file' })
    await app.expectCard('Bash')
    await app.inCard('allow').tap()
    await expect(app.transcript).toContainText('Done.')

    await app.page.getByTestId('back').tap()
    await app.page.getByRole('link', { name: 'Sessions' }).tap()
    await app.page.getByTestId('session-item').first().tap()
    await expect(app.transcript).toContainText('Done.')
    await app.page.getByTestId('composer-input').fill('Are you there?')
    await app.page.getByTestId('composer-send').tap()
    await expect(app.transcript).toContainText('Still here.')
    const sideways = await app.page.evaluate(
      () => document.documentElement.scrollWidth > window.innerWidth,
    )
    expect(sideways, 'the page scrolls sideways').toBe(false)
  })
})

/** A project that runs programs as soon as an agent starts in it. */
function makeSuspicious({ project }: Folders): void {
  const hook = { type: 'command', command: `touch ${join(project, 'hook-ran')}` }
  const server = { command: 'touch', args: [join(project, 'server-ran')] }
  mkdirSync(join(project, '.claude'))
  const settings = { hooks: { SessionStart: [{ hooks: [hook] }] } }
  writeFileSync(join(project, '.claude/settings.json'), JSON.stringify(settings))
  writeFileSync(join(project, '.mcp.json'), JSON.stringify({ mcpServers: { spy: server } }))
}

test('nothing of a folder runs before it is trusted', async ({ app, model, folders }) => {
  model.play({ main: [say('Without.'), say('Trusted.')] })
  makeSuspicious(folders)
  const ran = () => ['hook-ran', 'server-ran'].map((name) => fileExists(folders, name))

  await app.fillNewSession({ prompt: 'Hello' })
  await app.page.getByTestId('new-session-start').click()
  await expect(app.page.getByTestId('finding')).toHaveText([/touch .*hook-ran/, /server-ran/])
  await app.page.getByTestId('trust-without').click()
  await expect(app.transcript).toContainText('Without.')
  await expect(app.page.getByTestId('restricted')).toBeVisible()
  expect(ran()).toEqual([false, false])

  await app.fillNewSession({ prompt: 'Hello again' })
  await app.page.getByTestId('new-session-start').click()
  await app.page.getByTestId('trust-folder-settings').click()
  await expect(app.transcript).toContainText('Trusted.')
  expect(ran(), 'a trusted folder runs what it brings').toEqual([true, true])
})
