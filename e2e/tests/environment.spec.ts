import { TOKEN } from '../fixtures/server.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, say, use } from '../model/script.ts'

/** Variables that make programs load or run something. */
const DANGEROUS = [
  'BASH_ENV',
  'ENV',
  'GIT_DIR',
  'GIT_SSH_COMMAND',
  'LD_LIBRARY_PATH',
  'LD_PRELOAD',
  'NODE_OPTIONS',
  'PERL5OPT',
  'PYTHONSTARTUP',
  'RUBYOPT',
]

/** Of the agent itself and of what it runs; without the key, which is the agent's but need not be kept. */
const LOOK = '(tr "\\0" "\\n" < /proc/$PPID/environ; env) | grep -v API_KEY'

test.use({
  environment: Object.fromEntries(DANGEROUS.map((name) => [name, '/nowhere/at-all'])),
})

test("what the agent runs sees nothing of the server's own environment", async ({ app, model }) => {
  model.play({
    main: [use(bash('call', LOOK)), say('Done.')],
  })
  await app.startSession({ prompt: 'Look around' })
  await app.expectCard('Bash')
  await app.allow()
  const { text } = await model.toolResult('call')
  await expect(app.transcript).toContainText('Done.')

  const names = text.split('\n').map((line) => line.split('=')[0] ?? '')
  expect(names).toContain('CLAUDE_CODE_ENTRYPOINT')
  // Its own mark, by which what it starts is known: no secret.
  const ours = new Set(names.filter((name) => name.startsWith('SAYSO_')))
  expect([...ours]).toEqual(['SAYSO_AGENT'])
  expect(text).not.toContain(TOKEN)
  expect(text).not.toContain('/nowhere/at-all')
})
