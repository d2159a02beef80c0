import { type Frame, FrontEnd } from '../fixtures/front-end.ts'
import { expect, test } from '../fixtures/test.ts'
import { ask, say, use } from '../model/script.ts'

test('the real CLI asks an Agent Chat page, which answers, and stops when it cancels', async ({
  server,
  model,
  folders,
}) => {
  const question = {
    question: 'How should I format the output?',
    header: 'Format',
    options: [
      { label: 'Summary', description: 'Brief overview' },
      { label: 'Detailed', description: 'Full explanation' },
    ],
    multiSelect: false,
  }
  model.play({
    main: [use(ask('first', question)), use(ask('second', question)), say('Not reached.')],
  })
  const page = await FrontEnd.connect(server, 'agent-chat', { cwd: folders.project })
  page.send({ type: 'chat_message', data: { message: 'Do it' } })
  const respond = (to: Frame, fields: Frame): void => {
    page.send({
      type: 'ask_user_response',
      data: { question_id: to['question_id'], ...fields },
    })
  }

  const first = await page.ofType('ask_user_question')
  expect(first).toMatchObject({
    questions: [{ question: question.question }],
    timeout_seconds: 55,
  })
  expect(
    await page.ofType('session_status', (frame) => frame['waiting_for_user'] === true),
  ).toMatchObject({ is_processing: false, pending_question_id: first['question_id'] })
  respond(first, { answers: { [question.question]: 'Summary' }, cancelled: false })
  expect((await model.toolResult('first')).text).toContain('Summary')

  const second = await page.ofType('ask_user_question')
  respond(second, { answers: {}, cancelled: true })
  expect(await page.ofType('ask_user_timeout')).toMatchObject({
    question_id: second['question_id'],
  })
  await page.ofType('chat_complete')
  await page.ofType(
    'session_status',
    (frame) => frame['waiting_for_user'] === false && frame['is_processing'] === false,
  )
  const chunks = page.received.filter((frame) => frame['type'] === 'chat_chunk')
  expect(chunks.map((frame) => frame['content'])).not.toContain('Not reached.')
  page.close()
})
