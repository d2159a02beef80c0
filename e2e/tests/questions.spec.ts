import { expect, test } from '../fixtures/test.ts'
import { ask, question, say, use } from '../model/script.ts'

const COLOUR = question('Which colour?', 'Colour', ['Red', 'Blue'])
const PARTS = question('Which parts?', 'Parts', ['Intro', 'Body', 'End'], true)

const ANSWERED = (pairs: string): string =>
  `Your questions have been answered: ${pairs}. You can now continue with these answers in mind.`

test('one choice of several reaches the model', async ({ app, model }) => {
  model.play({ main: [use(ask('ask', COLOUR)), say('Thank you.')] })
  await app.startSession({ prompt: 'Ask me' })

  await app.expectCard('AskUserQuestion')
  await expect(app.inCard('answer-submit')).toBeDisabled()
  await app.choose('Which colour?', 'Red')
  await app.choose('Which colour?', 'Blue')
  await app.inCard('answer-submit').click()

  const result = await model.toolResult('ask')
  expect(result).toEqual({ text: ANSWERED('"Which colour?"="Blue"'), isError: false })
  await app.expectNoCard()
})

test('several choices reach the model in the order of the options', async ({ app, model }) => {
  model.play({ main: [use(ask('ask', COLOUR, PARTS)), say('Thank you.')] })
  await app.startSession({ prompt: 'Ask me' })

  await app.expectCard('AskUserQuestion')
  await app.choose('Which colour?', 'Red')
  await expect(app.inCard('answer-submit')).toBeDisabled()
  await app.choose('Which parts?', 'Intro', 'End')
  await app.inCard('answer-submit').click()

  const result = await model.toolResult('ask')
  expect(result).toEqual({
    text: ANSWERED('"Which colour?"="Red", "Which parts?"="Intro, End"'),
    isError: false,
  })
})

test('free text reaches the model, and adds to what was chosen', async ({ app, model }) => {
  model.play({ main: [use(ask('ask', COLOUR, PARTS)), say('Thank you.')] })
  await app.startSession({ prompt: 'Ask me' })

  await app.expectCard('AskUserQuestion')
  await app.chooseOther('Which colour?', 'teal please')
  await app.choose('Which parts?', 'Body')
  await app.chooseOther('Which parts?', 'an index')
  await app.inCard('answer-submit').click()

  const { text, isError } = await model.toolResult('ask')
  expect(isError).toBe(false)
  expect(text).toContain('"Which colour?"="teal please", "Which parts?"="Body, an index"')
})

test('previews are rendered beside the options, and numbers choose', async ({ app, model }) => {
  const layout = {
    question: 'Which layout?',
    header: 'Layout',
    multiSelect: false,
    options: [
      { label: 'Wide', description: 'Two columns', preview: '**Two** columns' },
      {
        label: 'Tall',
        description: 'One column',
        preview: '<div><script>parent.document.title = "taken"</script><b>One</b> column</div>',
      },
    ],
  }
  model.play({ main: [use(ask('ask', layout)), say('Thank you.')] })
  await app.startSession({ prompt: 'Ask me' })
  await app.expectCard('AskUserQuestion')
  const preview = app.inCard('option-preview')
  await expect(preview.locator('strong')).toHaveText('Two')

  await expect(app.inCard('answer-skip')).toBeEnabled()
  await app.card.focus()
  await app.page.keyboard.press('2')
  // A page is a document of its own, without a script.
  await expect(preview.frameLocator('iframe').locator('b')).toHaveText('One')
  await expect(app.page).not.toHaveTitle(/taken/)
  await app.page.keyboard.press('1')
  await expect(preview.locator('strong')).toHaveText('Two')
  await app.card.focus()
  await app.page.keyboard.press('Enter')

  const { text } = await model.toolResult('ask')
  expect(text).toContain('"Which layout?"="Wide"')
  expect(text).toContain('**Two** columns')
})

test('stop ends the turn without an answer', async ({ app, model }) => {
  model.play({ main: [use(ask('ask', COLOUR)), say('Never said.')] })
  await app.startSession({ prompt: 'Ask me' })
  await app.expectCard('AskUserQuestion')
  await app.inCard('answer-stop').click()
  await app.expectNoCard()
  await app.expectState('user_turn')
  await expect(app.transcript).not.toContainText('Never said.')
})

test('a skipped question is told to the model and the turn goes on', async ({ app, model }) => {
  model.play({ main: [use(ask('ask', COLOUR)), say('I will choose.')] })
  await app.startSession({ prompt: 'Ask me' })

  await app.expectCard('AskUserQuestion')
  await app.inCard('answer-skip').click()

  const { text, isError } = await model.toolResult('ask')
  expect(isError).toBe(true)
  expect(text).toContain('The user chose not to answer.')
  await expect(app.page.getByTestId('transcript')).toContainText('I will choose.')
})
