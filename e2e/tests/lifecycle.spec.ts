import { fileExists } from '../fixtures/files.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, plainText, say, use } from '../model/script.ts'

test('a killed agent takes its card with it and the session says why', async ({
  app,
  model,
  server,
  folders,
}) => {
  model.play({ main: [use(bash('call', 'touch never.txt'))] })
  await app.startSession({ prompt: 'Make the file' })
  await app.expectCard('Bash')
  const agents = server.agentProcesses()
  expect(agents).toHaveLength(1)

  for (const pid of agents) process.kill(pid, 'SIGKILL')

  await app.expectNoCard()
  await app.expectState('dead')
  await expect(app.page.getByTestId('session-error')).toContainText(/signal|killed/i)
  await expect(app.decisions).toHaveText([/Withdrawn/])
  expect(fileExists(folders, 'never.txt')).toBe(false)
})

test('an interrupt withdraws the request and the session goes on', async ({
  app,
  model,
  folders,
}) => {
  model.play({ main: [use(bash('call', 'touch never.txt')), say('On to the next thing.')] })
  await app.startSession({ prompt: 'Make the file' })
  await app.expectCard('Bash')

  await app.page.getByTestId('interrupt').click()

  await app.expectNoCard()
  await app.expectState('user_turn')
  await expect(app.decisions).toHaveText([/Withdrawn/])
  await app.send('Do something else')
  await expect(app.page.getByTestId('transcript')).toContainText('On to the next thing.')
  expect(fileExists(folders, 'never.txt')).toBe(false)
})

test('typing into an ended session brings its agent back with its history', async ({
  app,
  model,
}) => {
  model.play({ main: [say('I will remember.'), say('You said apricot.')] })
  await app.startSession({ prompt: 'The word is apricot' })
  await expect(app.page.getByTestId('transcript')).toContainText('I will remember.')
  await app.expectState('user_turn')
  const session = app.sessionId
  await app.stopSession()
  await app.expectState('dead')

  await app.send('What was the word?')

  await expect(app.page.getByTestId('transcript')).toContainText('You said apricot.')
  expect(app.sessionId).toBe(session)
  await app.expectState('user_turn')
  const last = model.requests.at(-1)
  const userTexts = last?.messages
    .filter(({ role }) => role === 'user')
    .map(({ content }) => plainText(content))
  expect(userTexts?.join('\n')).toMatch(/The word is apricot[^]*What was the word\?/)
})

test('a message typed while a request is open waits for its turn', async ({
  app,
  model,
  folders,
}) => {
  model.play({ main: [use(bash('call', 'touch queued.txt')), say('Read both.')] })
  await app.startSession({ prompt: 'Make the file' })
  await app.expectCard('Bash')

  await app.page.getByTestId('composer-queue').click()
  await app.send('And be quick')
  await app.expectCard('Bash')
  expect(model.hasNoResult('call')).toBe(true)
  await app.allow()

  await model.heard('And be quick')
  await expect(app.page.getByTestId('transcript')).toContainText('Read both.')
  expect(fileExists(folders, 'queued.txt')).toBe(true)
})

test('text is shown as it streams, and replaced by what is kept', async ({ app, model }) => {
  let release = (): void => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const text = 'The first half, then the second.'
  model.play({
    main: [{ blocks: [{ type: 'text', text }], stream: { parts: 2, next: () => gate } }],
  })
  await app.startSession({ prompt: 'Speak slowly' })

  await expect(app.page.getByTestId('live-text')).toHaveText('The first half, ')
  release()

  await expect(app.page.locator('[data-testid="entry"][data-kind="assistant_text"]')).toHaveText([
    text,
  ])
  await expect(app.page.getByTestId('live-text')).toHaveCount(0)
})

test('a model that never answers can be interrupted', async ({ app, model }) => {
  model.play({ main: [{ hang: true }, say('Here I am.')] })
  await app.startSession({ prompt: 'Are you there?' })
  await model.heard('Are you there?')

  await app.page.getByTestId('interrupt').click()

  await app.expectState('user_turn')
  await app.send('And now?')
  await expect(app.page.getByTestId('transcript')).toContainText('Here I am.')
})

test("an error of the model's service ends the turn and is shown", async ({ app, model }) => {
  const error = { type: 'permission_error', message: 'This key may not use the model.' }
  model.play({ main: [{ status: 403, error }, say('It works again.')] })
  await app.startSession({ prompt: 'Hello' })

  await expect(app.turnsEnded).toHaveCount(1)
  await expect(app.page.getByTestId('transcript')).toContainText('This key may not use the model.')
  await app.expectState('user_turn')
  await app.send('Once more')
  await expect(app.page.getByTestId('transcript')).toContainText('It works again.')
})
