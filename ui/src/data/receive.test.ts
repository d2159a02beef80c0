import { beforeEach, expect, test, vi } from 'vitest'

import { RefusedError, UnansweredError } from '../connection/errors'
import type { ServerMessage, TranscriptEntry } from '../protocol.gen'
import {
  CLIENT,
  makeOutcome,
  makeRequest,
  makeSession,
  makeWelcome,
  NO_TOKENS,
  SESSION,
  startStores,
  textEntry,
  type TestServer,
} from '../testing/fixtures'
import { receive } from './receive'
import { useRequests } from './requests'
import { useServer } from './server'
import { useSessions } from './sessions'
import { useToasts } from './toasts'
import { useTranscripts } from './transcripts'

let server: TestServer
beforeEach(() => {
  server = startStores()
})

const OTHER = '00000000-0000-4000-8000-000000000002'

function delta(part: Partial<Extract<ServerMessage, { type: 'delta' }>>): void {
  receive({
    type: 'delta',
    session_id: SESSION,
    message_id: 'm',
    index: 0,
    kind: 'text',
    text: '',
    ...part,
  })
}

function transcript(...entries: TranscriptEntry[]): void {
  receive({ type: 'transcript', session_id: SESSION, entries })
}

test('a welcome replaces every session and request known before', () => {
  receive({ type: 'request_opened', pending_request: makeRequest() })
  const session = makeSession({ session_id: OTHER })
  const request = makeRequest({ request_id: OTHER, session_id: OTHER })
  receive(makeWelcome({ sessions: [session], pending_requests: [request] }))
  expect(useSessions().inOrder).toEqual([session])
  expect(useRequests().open).toEqual([request])
})

test('every connection of this tab counts as "you"', () => {
  receive(makeWelcome({ client_id: OTHER }))
  const { isOwnClient } = useServer()
  expect([isOwnClient(CLIENT), isOwnClient(OTHER), isOwnClient('x')]).toEqual([true, true, false])
})

test('requests keep the order of the server, and one that is closed does not come back', () => {
  const first = makeRequest()
  const second = makeRequest({ request_id: OTHER })
  receive({ type: 'request_opened', pending_request: first })
  receive({ type: 'request_opened', pending_request: second })
  const held = { ...first, held: true }
  receive({ type: 'request_updated', pending_request: held })
  expect(useRequests().open).toEqual([held, second])

  const outcome = makeOutcome()
  receive({ type: 'request_closed', request_id: first.request_id, session_id: SESSION, outcome })
  receive({ type: 'request_closed', request_id: 'unknown', session_id: SESSION, outcome })
  receive({ type: 'request_updated', pending_request: held })
  expect(useRequests().open).toEqual([second])
  expect(useRequests().closed).toEqual([{ request: held, outcome }])
})

test('entries are taken once and in order, and a gap is fetched again', () => {
  const transcripts = useTranscripts()
  transcripts.open(SESSION)
  transcript(textEntry(1), textEntry(2))
  transcript(textEntry(2), textEntry(3))
  expect(transcripts.current.entries.map(({ seq }) => seq)).toEqual([1, 2, 3])
  transcript(textEntry(6))
  expect(transcripts.lastSeq(SESSION)).toBe(3)
  expect(server.askedFor('subscribe').at(-1)).toEqual({
    type: 'subscribe',
    session_id: SESSION,
    after: 3,
  })
})

test('live text grows, restarts and is replaced by its entry', () => {
  const transcripts = useTranscripts()
  transcripts.open(SESSION)
  const live = () => transcripts.current.live.map(({ kind, text }) => [kind, text])
  delta({ text: 'Hel' })
  delta({ text: 'lo' })
  delta({ index: 1, kind: 'thinking', text: 'hm' })
  expect(live()).toEqual([
    ['text', 'Hello'],
    ['thinking', 'hm'],
  ])
  delta({ text: 'Hello again', restart: true })
  expect(live()).toEqual([
    ['text', 'Hello again'],
    ['thinking', 'hm'],
  ])
  transcript({ ...textEntry(1), kind: 'assistant_text', message_id: 'm', index: 0, text: 'Hello' })
  delta({ text: ' late' })
  expect(live()).toEqual([['thinking', 'hm']])
})

test.each<[string, () => void]>([
  [
    'the turn ends',
    () =>
      transcript({
        ...{ seq: 1, at: '2026-01-02T03:04:05Z', kind: 'turn_ended', is_error: false },
        ...{ reason: null, text: null, duration_ms: 1, cost_usd: 0, tokens: NO_TOKENS },
      }),
  ],
  [
    'the session dies',
    () => receive({ type: 'session_state', session: makeSession({ state: 'dead' }) }),
  ],
])('live text is gone when %s', (_, end) => {
  useTranscripts().open(SESSION)
  delta({ text: 'Hello' })
  end()
  expect(useTranscripts().current.live).toEqual([])
})

test('after a reconnect the opened session is subscribed to from where it was', () => {
  useTranscripts().open(SESSION)
  transcript(textEntry(1), textEntry(2))
  receive(makeWelcome({ sessions: [makeSession({ last_seq: 5 })] }))
  expect(server.askedFor('subscribe')).toEqual([
    { type: 'subscribe', session_id: SESSION, last: 200 },
    { type: 'subscribe', session_id: SESSION, after: 2 },
  ])
})

test('a transcript shorter than ours is fetched anew', () => {
  useTranscripts().open(SESSION)
  transcript(textEntry(1), textEntry(2))
  receive(makeWelcome({ sessions: [makeSession({ last_seq: 1 })] }))
  expect(useTranscripts().current.entries).toEqual([])
  expect(server.askedFor('subscribe').at(-1)).toEqual({
    type: 'subscribe',
    session_id: SESSION,
    last: 200,
  })
})

test('a decision waits for the server and says who was faster', async () => {
  const request = makeRequest()
  receive({ type: 'request_opened', pending_request: request })
  const requests = useRequests()
  const client = { client_id: OTHER, label: 'Pixel 8' }
  const outcome = makeOutcome({ what: 'denied', client })
  const refusal = { code: 'already_decided' as const, message: 'Too late.', outcome }
  server.answer = () => Promise.reject(new RefusedError(refusal))
  const responding = requests.respond(request, { behavior: 'allow' })
  expect(requests.sent.has(request.request_id)).toBe(true)
  await responding
  expect(requests.sent.has(request.request_id)).toBe(false)
  expect(requests.errors.get(request.request_id)).toBe(
    'This was decided already: Denied by you on Pixel 8.',
  )
})

test('that there is no connection is no longer said when there is one', async () => {
  const [offline, lost] = [makeRequest(), makeRequest({ request_id: OTHER })]
  const welcome = makeWelcome({ pending_requests: [offline, lost] })
  receive(welcome)
  const requests = useRequests()
  server.answer = () => Promise.reject(new UnansweredError('offline'))
  await requests.respond(offline, { behavior: 'allow' })
  server.answer = () => Promise.reject(new UnansweredError('lost'))
  await requests.respond(lost, { behavior: 'allow' })
  expect(requests.errors.size).toBe(2)
  receive(welcome)
  expect([...requests.errors.keys()]).toEqual([OTHER])
})

test('an unknown message is noted once and changes nothing', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  const unknown = { type: 'from_the_future' } as unknown as ServerMessage
  receive(unknown)
  receive(unknown)
  expect(warn).toHaveBeenCalledTimes(1)
  expect(useSessions().inOrder).toEqual([makeSession()])
})

test('an error that answers nothing becomes a toast', () => {
  receive({ type: 'error', code: 'overloaded', message: 'Too much is queued.' })
  receive({ type: 'error', id: '7', code: 'internal', message: 'Shown by whoever asked.' })
  expect(useToasts().toasts.map(({ text }) => text)).toEqual(['Too much is queued.'])
})
