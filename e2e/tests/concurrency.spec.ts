import { fileExists } from '../fixtures/files.ts'
import { App } from '../fixtures/app.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, say, type Script, subagent, use } from '../model/script.ts'

const TWO_SUBAGENTS: Script = {
  main: [
    use(
      subagent('first', 'First agent', 'MARK-ONE go'),
      subagent('second', 'Second agent', 'MARK-TWO go'),
    ),
    say('Both are back.'),
  ],
  agents: [
    { match: 'MARK-ONE', turns: [use(bash('one', 'touch one.txt')), say('One is done.')] },
    { match: 'MARK-TWO', turns: [use(bash('two', 'touch two.txt')), say('Two is done.')] },
  ],
}

test('two subagents ask at once and are answered in reverse order', async ({
  app,
  model,
  folders,
}) => {
  model.play(TWO_SUBAGENTS)
  await app.startSession({ prompt: 'Send two' })

  await expect(app.inCard('request-position')).toHaveText('1 of 2')
  const first = await app.card.getAttribute('data-request-id')
  const firstCommand = await app.inCard('request-command').innerText()
  await app.inCard('request-next').click()
  await expect(app.inCard('request-position')).toHaveText('2 of 2')
  await expect(app.inCard('request-command')).not.toHaveText(firstCommand)
  await expect(app.inCard('request-who')).toContainText(/(First|Second) agent/)

  const [asked, other] = firstCommand.includes('one')
    ? (['one', 'two'] as const)
    : (['two', 'one'] as const)
  await app.allow()
  expect((await model.toolResult(other)).isError).toBe(false)
  await expect(app.card).toHaveAttribute('data-request-id', first ?? '')
  expect([fileExists(folders, `${other}.txt`), fileExists(folders, `${asked}.txt`)]).toEqual([
    true,
    false,
  ])

  await app.allow()
  expect((await model.toolResult(asked)).isError).toBe(false)
  await expect(app.page.getByTestId('transcript')).toContainText('Both are back.')
  expect(fileExists(folders, `${asked}.txt`)).toBe(true)
})

test('an answer in one tab closes the card in both, and the other says who', async ({
  app,
  model,
  server,
  context,
}) => {
  model.play({ main: [use(bash('call', 'touch once.txt')), say('Done.')] })
  await app.startSession({ prompt: 'Make the file' })
  await app.expectCard('Bash')
  const other = new App(await context.newPage(), server)
  await other.page.goto(app.page.url())
  await other.expectCard('Bash')

  // It is said for a breath only, so the other tab is watched from before the click.
  const said = expect(other.page.getByTestId('request-outcome')).toContainText(
    /Allowed by you on .*Chrom/,
  )
  await app.allow()

  await Promise.all([said, app.expectNoCard(), other.expectNoCard()])
  expect(await model.toolResult('call')).toEqual({
    text: '(Bash completed with no output)',
    isError: false,
  })
  await expect(app.decisions).toHaveText([/Allowed by you(?! on)/])
  await expect(other.decisions).toHaveText([/Allowed by you on .*Chrom/])
})

test('a request that was open before a reload is open after it', async ({
  app,
  model,
  folders,
}) => {
  model.play({ main: [use(bash('call', 'touch reloaded.txt')), say('Done.')] })
  await app.startSession({ prompt: 'Make the file' })
  await app.expectCard('Bash')
  const request = await app.card.getAttribute('data-request-id')

  await app.page.reload()

  await expect(app.card).toHaveAttribute('data-request-id', request ?? '')
  await expect(app.inCard('request-command')).toHaveText('touch reloaded.txt')
  await app.allow()
  await model.toolResult('call')
  await app.expectState('user_turn')
  expect(fileExists(folders, 'reloaded.txt')).toBe(true)
  await expect(app.decisions).toHaveText([/Allowed by you(?! on)/])
})
