import { fileExists } from '../fixtures/files.ts'
import { type Frame, FrontEnd } from '../fixtures/front-end.ts'
import { expect, test } from '../fixtures/test.ts'
import { ask, bash, say, use } from '../model/script.ts'

test('the real CLI asks a tofucode tab, which approves, denies and answers', async ({
  server,
  model,
  folders,
}) => {
  const question = {
    question: 'Which framework?',
    header: 'Framework',
    options: [
      { label: 'Vue', description: 'Progressive' },
      { label: 'Svelte', description: 'Compiled' },
    ],
    multiSelect: true,
  }
  model.play({
    main: [
      use(bash('first', 'touch allowed.txt && echo ran')),
      use(bash('second', 'touch denied.txt')),
      use(ask('third', question)),
      say('All done.'),
    ],
  })
  const tab = await FrontEnd.connect(server, 'tofucode', { cwd: folders.project })
  tab.send({ type: 'prompt', prompt: 'Do it', permissionMode: 'default' })
  const respond = (request: Frame, decision: string): void => {
    tab.send({ type: 'permission_response', requestId: request['requestId'], decision })
  }

  const first = await tab.ofType('permission_request')
  expect(first).toMatchObject({
    toolName: 'Bash',
    toolInput: { command: 'touch allowed.txt && echo ran' },
  })
  respond(first, 'approve')
  expect(await model.toolResult('first')).toEqual({ text: 'ran', isError: false })

  respond(await tab.ofType('permission_request'), 'deny')
  expect((await model.toolResult('second')).isError).toBe(true)

  const asked = await tab.ofType('question_request')
  expect(asked['questions']).toMatchObject([{ question: question.question, multiSelect: true }])
  tab.send({
    type: 'question_response',
    requestId: asked['requestId'],
    answers: { [question.question]: 'Vue, Svelte' },
  })
  expect((await model.toolResult('third')).text).toContain('Vue, Svelte')

  await tab.ofType('task_status', (frame) => frame['status'] === 'completed')
  const texts = tab.received.filter((frame) => frame['type'] === 'text')
  expect(texts.map((frame) => frame['content']).join('')).toBe('All done.')
  expect(fileExists(folders, 'allowed.txt')).toBe(true)
  expect(fileExists(folders, 'denied.txt')).toBe(false)
  tab.close()
})
