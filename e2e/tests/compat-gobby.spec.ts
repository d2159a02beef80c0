import { fileExists } from '../fixtures/files.ts'
import { FrontEnd } from '../fixtures/front-end.ts'
import { expect, test } from '../fixtures/test.ts'
import { ask, bash, say, use } from '../model/script.ts'

test('the real CLI asks a Gobby page, which answers; its tools are allowed because it said so', async ({
  server,
  model,
  folders,
}) => {
  const question = {
    question: 'Which colour?',
    header: 'Colour',
    options: [
      { label: 'Red', description: 'Warm' },
      { label: 'Green', description: 'Cool' },
    ],
    multiSelect: false,
  }
  model.play({
    main: [
      use(bash('first', 'touch automatic.txt && echo ran')),
      use(ask('second', question)),
      say('Green it is.'),
    ],
  })
  const page = await FrontEnd.connect(server, 'gobby', {
    cwd: folders.project,
    auto_approve: 'tools',
  })
  page.send({ type: 'chat_message', conversation_id: 'c1', content: 'Do it' })
  const status = async (call: string, is: string) =>
    page.ofType('tool_status', (frame) => frame['tool_call_id'] === call && frame['status'] === is)

  await status('first', 'calling')
  expect(await status('first', 'completed')).toMatchObject({ result: 'ran' })

  expect(await status('second', 'calling')).toMatchObject({
    conversation_id: 'c1',
    tool_name: 'AskUserQuestion',
  })
  const respond = (answer: string): void => {
    page.send({
      type: 'ask_user_response',
      conversation_id: 'c1',
      tool_call_id: 'second',
      answers: { [question.question]: answer },
    })
  }
  respond('Blue')
  await page.ofType('chat_error')
  respond('Green')
  expect((await model.toolResult('second')).text).toContain('Green')
  await status('second', 'completed')

  await page.ofType('chat_stream', (frame) => frame['done'] === true)
  const pieces = page.received.filter((frame) => frame['type'] === 'chat_stream')
  expect(pieces.map((frame) => frame['content']).join('')).toBe('Green it is.')
  expect(fileExists(folders, 'automatic.txt')).toBe(true)
  page.close()
})
