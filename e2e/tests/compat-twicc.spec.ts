import { fileExists } from '../fixtures/files.ts'
import { type Frame, FrontEnd } from '../fixtures/front-end.ts'
import { expect, test } from '../fixtures/test.ts'
import { ask, bash, say, use } from '../model/script.ts'

const pendingOf = (frame: Frame): Frame => frame['pending_request'] as Frame

function response(state: Frame, fields: Frame): Frame {
  const { request_id, request_type } = pendingOf(state)
  const { session_id } = state
  return { type: 'pending_request_response', session_id, request_id, request_type, ...fields }
}

test('the real CLI asks a TWICC tab, which allows, denies and answers', async ({
  server,
  model,
  folders,
}) => {
  const question = {
    question: 'How should I format it?',
    header: 'Format',
    options: [
      { label: 'Summary', description: 'Brief' },
      { label: 'Detailed', description: 'Full' },
    ],
    multiSelect: false,
  }
  model.play({
    main: [
      use(bash('first', 'touch allowed.txt && echo ran')),
      use(bash('second', 'touch denied.txt')),
      use(ask('third', question)),
      say('All done.'),
    ],
  })
  const tab = await FrontEnd.connect(server, 'twicc', { cwd: folders.project })
  await tab.ofType('active_processes')
  tab.send({ type: 'send_message', text: 'Do it' })

  const shown = async (tool: string): Promise<Frame> =>
    tab.ofType('process_state', (frame) => pendingOf(frame)?.['tool_name'] === tool)
  const first = await shown('Bash')
  expect(pendingOf(first)).toMatchObject({
    request_type: 'tool_approval',
    tool_input: { command: 'touch allowed.txt && echo ran' },
  })
  const updated_input = pendingOf(first)['tool_input']
  tab.send(response(first, { decision: 'allow', updated_input }))
  expect(await model.toolResult('first')).toEqual({ text: 'ran', isError: false })

  const second = await tab.ofType(
    'process_state',
    (frame) =>
      pendingOf(frame)?.['tool_name'] === 'Bash' &&
      pendingOf(frame)['request_id'] !== pendingOf(first)['request_id'],
  )
  tab.send(response(second, { decision: 'deny', message: 'Not there.' }))
  expect(await model.toolResult('second')).toEqual({ text: 'Not there.', isError: true })

  const third = await shown('AskUserQuestion')
  expect(pendingOf(third)['request_type']).toBe('ask_user_question')
  tab.send(response(third, { answers: { [question.question]: 'Summary' } }))
  expect((await model.toolResult('third')).text).toContain('Summary')

  await tab.ofType(
    'process_state',
    (frame) => frame['state'] === 'user_turn' && pendingOf(frame) === undefined,
  )
  expect(fileExists(folders, 'allowed.txt')).toBe(true)
  expect(fileExists(folders, 'denied.txt')).toBe(false)
  tab.close()
})
