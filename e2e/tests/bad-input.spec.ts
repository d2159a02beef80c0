import type { ErrorCode } from '../../ui/src/protocol.gen.ts'
import { fileExists } from '../fixtures/files.ts'
import { Socket } from '../fixtures/socket.ts'
import type { SaysoServer } from '../fixtures/server.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, say, use } from '../model/script.ts'

const NOBODY = '00000000-0000-4000-8000-000000000000'
const ALLOW = { behavior: 'allow' }

/** What a new client is told, without what differs per connection. */
async function snapshot(server: SaysoServer): Promise<object> {
  const socket = await Socket.connect(server)
  const { sessions, pending_requests } = await socket.next('welcome')
  socket.close()
  return { sessions, pending_requests }
}

test('bad messages get a named error and change nothing', async ({
  server,
  socket,
  model,
  folders,
}) => {
  model.play({ main: [use(bash('call', 'touch asked.txt')), say('Done.')] })
  const started = await socket.request({
    type: 'start_session',
    cwd: folders.project,
    prompt: 'Make the file',
  })
  expect(started).toMatchObject({ type: 'ack' })
  const { pending_request: request } = await socket.next('request_opened')
  const { request_id, input_digest, session_id } = request
  const respond = { type: 'respond', request_id, input_digest, decision: ALLOW }
  const before = await snapshot(server)

  const cases: [ErrorCode, Record<string, unknown>][] = [
    ['unknown_type', { type: 'approve_everything' }],
    ['invalid_message', { type: 'interrupt' }],
    ['invalid_message', { type: 'interrupt', session_id: 7 }],
    ['invalid_message', { type: 'interrupt', session_id, force: true }],
    ['invalid_message', { ...respond, decision: { behavior: 'maybe' } }],
    ['invalid_message', { ...respond, decision: { behavior: 'allow', updatedInput: {} } }],
    [
      'unknown_session',
      { type: 'send_message', session_id: NOBODY, content: [{ type: 'text', text: 'x' }] },
    ],
    ['unknown_session', { type: 'interrupt', session_id: NOBODY }],
    ['unknown_request', { ...respond, request_id: NOBODY }],
    ['digest_mismatch', { ...respond, input_digest: 'another' }],
    ['invalid_answer', { ...respond, decision: { behavior: 'answer', answers: { 'Who?': 'me' } } }],
    ['folder_not_found', { type: 'start_session', cwd: `${folders.root}/nowhere` }],
  ]
  for (const [code, message] of cases) {
    expect
      .soft(await socket.request(message), JSON.stringify(message))
      .toMatchObject({ type: 'error', code })
  }
  for (const text of ['', '[]', '{', '"ping"', '{"type":5}']) {
    const known = socket.received.length
    socket.sendText(text)
    const refused = await socket.next('error', (error) => socket.received.indexOf(error) >= known)
    expect.soft(refused.code, text).toBe('invalid_message')
  }

  expect(await snapshot(server)).toEqual(before)
  expect(fileExists(folders, 'asked.txt')).toBe(false)

  expect(await socket.request(respond)).toMatchObject({ type: 'ack' })
  await model.toolResult('call')
  expect(fileExists(folders, 'asked.txt')).toBe(true)
  const again = await socket.request({ ...respond, decision: { behavior: 'deny' } })
  expect(again).toMatchObject({
    type: 'error',
    code: 'already_decided',
    request_id,
    outcome: { what: 'allowed', by: 'human' },
  })
  await socket.next(
    'session_state',
    ({ session }) => session.state === 'user_turn' && session.last_seq > 0,
  )
})

test('a frame that is too large is refused and harms nobody else', async ({ server, socket }) => {
  const padded = (mebibytes: number): string =>
    JSON.stringify({ type: 'ping', id: 'padded', padding: 'x'.repeat(mebibytes * 1024 * 1024) })
  const other = await Socket.connect(server)

  other.sendText(padded(10))
  expect((await other.next('error')).code).toBe('message_too_large')
  expect(await other.request({ type: 'ping' })).toMatchObject({ type: 'ack' })

  // Beyond all measure the server does not even read on.
  other.sendText(padded(64))
  await other.closed()
  expect(await socket.request({ type: 'ping' })).toMatchObject({ type: 'ack' })
})
