import { fileExists } from '../fixtures/files.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, say, subagent, use } from '../model/script.ts'

test.describe('with a short time limit', () => {
  test.use({ config: '[policies]\ntool_timeout = "5s"\n' })

  test('a request that nobody answers is denied, and not as a refusal', async ({
    app,
    model,
    folders,
  }) => {
    model.play({ main: [use(bash('call', 'touch late.txt')), say('I will wait for you.')] })
    await app.startSession({ prompt: 'Make the file' })
    await app.expectCard('Bash')
    await expect(app.inCard('request-countdown')).toBeVisible()

    const { text, isError } = await model.toolResult('call')
    expect(isError).toBe(true)
    expect(text).toBe(
      'Nobody answered within 5 seconds. This is not a refusal: the user may be away. ' +
        'Go on with what needs no permission, or stop and wait for the user.',
    )
    await app.expectNoCard()
    await expect(app.decisions).toHaveText([/No answer in/])
    await expect(app.page.getByTestId('transcript')).toContainText('I will wait for you.')
    expect(fileExists(folders, 'late.txt')).toBe(false)
  })
})

test.describe('with a minute', () => {
  test.use({ config: '[policies]\ntool_timeout = "1m"\n' })

  test('five minutes more, a stopped clock, and it runs again', async ({ app, model }) => {
    model.play({ main: [use(bash('call', 'touch patient.txt')), say('Done.')] })
    await app.startSession({ prompt: 'Make the file' })
    await app.expectCard('Bash')
    const countdown = app.inCard('request-countdown')
    await expect(countdown).toContainText(/Denied by itself in 0:5\d/)

    await app.inCard('request-extend').click()
    await expect(countdown).toContainText(/in 5:[345]\d/)
    await app.inCard('request-hold').click()
    await expect(countdown).toContainText(/Clock stopped at 5:[345]\d/)
    await app.inCard('request-hold').click()
    await expect(countdown).toContainText(/Denied by itself in 5:[345]\d/)
    await app.allow()
    expect((await model.toolResult('call')).isError).toBe(false)
  })
})

test.describe('with time to hold', () => {
  test.use({ config: '[policies]\ntool_timeout = "8s"\n' })

  test('a held request outlives one that came after it', async ({ app, model, folders }) => {
    model.play({
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
    })
    await app.startSession({ prompt: 'Send two' })
    await expect(app.inCard('request-position')).toHaveText('1 of 2')
    const held = (await app.inCard('request-command').innerText()).includes('one') ? 'one' : 'two'
    const other = held === 'one' ? 'two' : 'one'

    await app.inCard('request-hold').click()

    // The other one came later, so its end proves that the held clock stands still.
    expect((await model.toolResult(other)).text).toContain('Nobody answered')
    await expect(app.inCard('request-command')).toHaveText(`touch ${held}.txt`)
    await app.allow()
    expect((await model.toolResult(held)).isError).toBe(false)
    expect([fileExists(folders, `${held}.txt`), fileExists(folders, `${other}.txt`)]).toEqual([
      true,
      false,
    ])
    await expect(app.page.getByTestId('transcript')).toContainText('Both are back.')
  })
})
