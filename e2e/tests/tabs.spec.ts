/** Several tabs on one request. */
import { App } from '../fixtures/app.ts'
import { fileExists } from '../fixtures/files.ts'
import { expect, test } from '../fixtures/test.ts'
import { ask, bash, question, say, use } from '../model/script.ts'

test('a stale tab is told who decided what', async ({ app, model, server, context, folders }) => {
  model.play({ main: [use(bash('call', 'touch stale.txt')), say('Understood.')] })
  await app.startSession({ prompt: 'Make the file' })
  await app.expectCard('Bash')

  // A tab that hears of nothing that closes, as one that was asleep.
  const stale = new App(await context.newPage(), server)
  await stale.page.routeWebSocket(/\/api\/ws$/, (socket) => {
    const upstream = socket.connectToServer()
    upstream.onMessage((message) => {
      if (!String(message).includes('"request_closed"')) socket.send(message)
    })
  })
  await stale.page.goto(app.page.url())
  await stale.expectCard('Bash')
  await app.deny('Not this one.')
  await app.expectNoCard()

  await stale.allow()
  await expect(stale.inCard('request-error')).toContainText(
    /decided already: Denied by you on .*Chrom/,
  )
  expect(await model.toolResult('call')).toEqual({ text: 'Not this one.', isError: true })
  expect(fileExists(folders, 'stale.txt')).toBe(false)
})

test('of two tabs in a race one decides, and both show the same', async ({
  app,
  model,
  server,
  context,
}) => {
  model.play({ main: [use(bash('call', 'touch raced.txt')), say('Done.')] })
  await app.startSession({ prompt: 'Make the file' })
  await app.expectCard('Bash')
  const other = new App(await context.newPage(), server)
  await other.page.goto(app.page.url())
  await other.expectCard('Bash')
  await expect(app.inCard('deny-stop')).toBeEnabled()
  await expect(other.inCard('allow')).toBeEnabled()

  // At the same time, as far as that can be done: no waiting for anything to stand still.
  const press = (tab: App, button: string) =>
    tab.inCard(button).click({ force: true, timeout: 10_000 })
  await Promise.allSettled([press(app, 'deny-stop'), press(other, 'allow')])

  await Promise.all([app.expectNoCard(), other.expectNoCard()])
  await expect(app.decisions).toHaveCount(1)
  await expect(other.decisions).toHaveCount(1)
  const words = (text: string) => text.split(' by ')[0]
  const [here, there] = [await app.decisions.innerText(), await other.decisions.innerText()]
  expect(words(here)).toBe(words(there))
})

test('answers that were begun are there in another tab and after a reload', async ({
  app,
  model,
  server,
  context,
}) => {
  const parts = question('Which parts?', 'Parts', ['Intro', 'Body', 'End'], true)
  model.play({ main: [use(ask('ask', parts)), say('Thank you.')] })
  await app.startSession({ prompt: 'Ask me' })
  await app.expectCard('AskUserQuestion')
  await app.choose('Which parts?', 'Intro')
  await app.chooseOther('Which parts?', 'an index')
  await app.inCard('question-add-note').click()
  await app.inCard('question-note').fill('short, please')

  const other = new App(await context.newPage(), server)
  await other.page.goto(app.page.url())
  await expect(other.question('Which parts?').getByTestId('other-text')).toHaveValue('an index')
  await other.choose('Which parts?', 'End')
  const chosen = app.question('Which parts?').locator('[data-label="End"]')
  await expect(chosen).toHaveAttribute('aria-checked', 'true')

  await app.page.reload()
  await expect(app.inCard('question-note')).toHaveValue('short, please')
  await app.inCard('answer-submit').click()
  const { text } = await model.toolResult('ask')
  expect(text).toContain('"Which parts?"="Intro, End, an index"')
  expect(text).toContain('notes: short, please')
  await expect(app.page.getByTestId('answers')).toContainText('Intro, End, an index')
  await expect(app.page.getByTestId('answers')).toContainText('short, please')
})
