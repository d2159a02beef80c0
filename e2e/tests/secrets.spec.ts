import { spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { TOKEN } from '../fixtures/server.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, say, use } from '../model/script.ts'

/** Every test ends with a search for secrets; this one shows that the search finds them. */
test('a secret is found wherever it is left', async ({ app, model, server, folders }) => {
  const planted = 'planted-secret-0123456789'
  model.play({ main: [use(bash('call', 'touch made')), say('Done.')] })
  await app.startSession({ prompt: 'Make it' })
  await app.expectCard('Bash')
  expect([await server.secretsWhileRunning(), server.secretsLeftBehind()]).toEqual([[], []])

  server.secrets.add(planted)
  await app.deny(`Because of ${planted}`)
  await expect(app.transcript).toContainText('Done.')
  expect(await server.secretsWhileRunning()).toEqual([
    expect.stringContaining('format=jsonl'),
    expect.stringContaining('format=csv'),
  ])
  expect(server.secretsLeftBehind()).toContainEqual(expect.stringContaining('sayso.db'))
  server.secrets.delete(planted)

  const file = join(folders.data, 'notes')
  writeFileSync(file, `x${TOKEN}x`)
  server.log.push(`err GET /?token=${TOKEN}`)
  expect(server.secretsLeftBehind()).toEqual([
    expect.stringContaining('the log'),
    expect.stringContaining(file),
  ])
  server.log.pop()
  rmSync(file)

  const careless = spawn('sleep', ['60'], {
    argv0: `sleep ${TOKEN}`,
    env: { HOME: folders.home, TOKEN },
    stdio: 'ignore',
  })
  try {
    const where = ['the command line of', 'the environment of'].map((place) =>
      expect.stringContaining(`${place} process ${careless.pid}`),
    )
    await expect.poll(() => server.secretsWhileRunning()).toEqual(where)
  } finally {
    careless.kill('SIGKILL')
  }
})
