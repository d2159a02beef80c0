import { fileExists } from '../fixtures/files.ts'
import { type Frame, FrontEnd } from '../fixtures/front-end.ts'
import { expect, test } from '../fixtures/test.ts'
import { ask, bash, say, use } from '../model/script.ts'

test('the real CLI asks a UI Chatter panel, which approves, edits, denies and answers', async ({
  server,
  model,
  folders,
}) => {
  const question = {
    question: 'Which library?',
    header: 'Library',
    options: [
      { label: 'React', description: 'Modern' },
      { label: 'Vue', description: 'Progressive' },
    ],
    multiSelect: false,
  }
  model.play({
    main: [
      use(bash('first', 'touch allowed.txt && echo ran')),
      use(bash('second', 'touch original.txt')),
      use(bash('third', 'touch denied.txt')),
      use(ask('fourth', question)),
      say('All done.'),
    ],
  })
  const panel = await FrontEnd.connect(server, 'ui-chatter', { cwd: folders.project })
  panel.send({ type: 'handshake', permission_mode: 'default' })
  await panel.ofType('session_created')
  panel.send({ type: 'chat', message: 'Do it' })
  const request = async (): Promise<Frame> => panel.ofType('permission_request')
  const respond = (to: Frame, fields: Frame): void => {
    panel.send({ type: 'permission_response', request_id: to['request_id'], ...fields })
  }

  const first = await request()
  expect(first).toMatchObject({
    request_type: 'tool_approval',
    tool_name: 'Bash',
    input_data: { command: 'touch allowed.txt && echo ran' },
    timeout_seconds: 60,
  })
  respond(first, { approved: true, modified_input: null, reason: null })
  expect(await model.toolResult('first')).toEqual({ text: 'ran', isError: false })
  await panel.ofType('tool_activity', (frame) => frame['status'] === 'completed')

  respond(await request(), {
    approved: true,
    modified_input: { command: 'touch edited.txt', description: 'second' },
  })
  expect((await model.toolResult('second')).isError).toBe(false)

  respond(await request(), { approved: false, reason: 'Not there.' })
  expect(await model.toolResult('third')).toEqual({ text: 'Not there.', isError: true })

  const fourth = await request()
  expect(fourth).toMatchObject({ request_type: 'ask_user_question', timeout_seconds: 60 })
  respond(fourth, { approved: true, answers: { [question.question]: 'Something of my own' } })
  expect((await model.toolResult('fourth')).text).toContain('Something of my own')

  await panel.ofType('response_chunk', (frame) => frame['done'] === true)
  const chunks = panel.received.filter((frame) => frame['type'] === 'response_chunk')
  expect(chunks.map((frame) => frame['content']).join('')).toBe('All done.')
  expect(fileExists(folders, 'allowed.txt')).toBe(true)
  expect(fileExists(folders, 'edited.txt')).toBe(true)
  expect(fileExists(folders, 'original.txt')).toBe(false)
  expect(fileExists(folders, 'denied.txt')).toBe(false)
  panel.close()
})
