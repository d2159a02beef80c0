/** The server goes and comes back; the real agent and its question stay. */
import { writeFileSync } from 'node:fs'

import { fileExists } from '../fixtures/files.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, type MessagesRequest, say, type Turn, use, write } from '../model/script.ts'

test('a killed server loses nothing: the same card is there, and Allow works', async ({
  app,
  server,
  model,
  folders,
}) => {
  model.play({ main: [use(write('late', 'late.txt', 'still here\n')), say('Written.')] })
  await app.startSession({ prompt: 'Write it' })
  await app.expectCard('Write')
  const agents = server.agentProcesses()
  expect(agents).toHaveLength(1)

  await server.kill()
  const status = app.page.getByTestId('connection-status')
  await expect(status).not.toHaveAttribute('data-status', 'connected')
  await server.startAgain()
  // Nobody reloads: the page finds its way back.
  await app.expectConnected()
  await app.expectCard('Write')
  expect(server.agentProcesses()).toEqual(expect.arrayContaining(agents))
  expect(fileExists(folders, 'late.txt')).toBe(false)
  await app.allow()
  await expect(app.transcript).toContainText('Written.')
  expect(fileExists(folders, 'late.txt')).toBe(true)
})

test('what was lost with its agent is asked again with one press', async ({
  app,
  server,
  model,
  folders,
}) => {
  const wanted = (id: string) => use(write(id, 'again.txt', 'asked twice\n'))
  // An agent that finds its input closed may ask its model once more before it is killed.
  const later = (request: MessagesRequest): Turn => {
    const said = JSON.stringify(request.messages)
    if (said.includes('stream closed') && !said.includes('Continue from where'))
      return { hang: true }
    return said.includes('"second"') ? say('Written at last.') : wanted('second')
  }
  model.play({ main: [wanted('first'), later, later, later] })
  await app.startSession({ prompt: 'Write it' })
  await app.expectCard('Write')

  // The agent's whole side, as when the machine goes down; the server sees to what is left.
  for (const holder of server.runnerProcesses()) process.kill(holder, 'SIGKILL')
  await app.expectState('dead')
  await expect.poll(() => server.agentProcesses()).toEqual([])
  await expect(app.card).toBeHidden()
  const orphaned = app.transcript.getByTestId('decision').last()
  await expect(orphaned).toContainText('Not answered')
  await expect(app.page.getByText('The agent was lost')).toHaveCount(1)

  await app.page.getByTestId('ask-again').click()
  await app.expectCard('Write')
  expect(fileExists(folders, 'again.txt')).toBe(false)
  await app.allow()
  await expect(app.transcript).toContainText('Written at last.')
  expect(fileExists(folders, 'again.txt')).toBe(true)
})

test.describe('a server that leaves its agents alone', () => {
  test.use({ environment: { SAYSO_ON_SHUTDOWN: 'keep' } })

  test('finds what they did meanwhile', async ({ app, server, model, folders }) => {
    const command = 'while [ ! -e go ]; do sleep 0.05; done; echo finished > result.txt'
    model.play({ main: [use(bash('wait', command)), say('It is finished.')] })
    await app.startSession({ prompt: 'Wait for it' })
    await app.expectCard('Bash')
    await app.allow()
    await expect(app.card).toBeHidden()

    await server.terminate()
    writeFileSync(`${folders.project}/go`, '')
    await expect.poll(() => fileExists(folders, 'result.txt')).toBe(true)
    await server.startAgain()
    await expect(app.transcript).toContainText('It is finished.')
    await expect(app.transcript.getByText('It is finished.')).toHaveCount(1)
    await app.expectState('user_turn')
    // This test leaves nothing behind either.
    await app.stopSession()
    await app.expectState('dead')
  })
})
