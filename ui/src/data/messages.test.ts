import { beforeEach, expect, test } from 'vitest'

import { RefusedError, UnansweredError } from '../connection/errors'
import { makeSession, SESSION, startStores, textEntry, type TestServer } from '../testing/fixtures'
import { LARGEST_MESSAGE, makeAttachment } from './attachments'
import { useMessages } from './messages'
import { receive } from './receive'
import { useTranscripts } from './transcripts'
import { useTrust } from './trust'

const KEY = `sayso.draft.${SESSION}`
const idle = makeSession({ state: 'user_turn' })
const ended = makeSession({ state: 'dead' })
const picture = { type: 'image' as const, media_type: 'image/png', data: 'AAAA' }

let server: TestServer
beforeEach(() => {
  server = startStores()
})

/** What another tab does to the shared storage, as this tab hears of it. */
function writtenElsewhere(text: string): void {
  localStorage.setItem(KEY, JSON.stringify(text))
  window.dispatchEvent(new StorageEvent('storage', { key: KEY, storageArea: localStorage }))
}

test('a sent message shows at once and comes back when it could not be sent', async () => {
  const messages = useMessages()
  server.answer = () => Promise.reject(new UnansweredError('lost'))
  messages.write(SESSION, 'first')
  const sending = messages.send(idle)
  expect(messages.draft(SESSION)).toMatchObject({ text: '', outgoing: ['first'], error: null })
  messages.write(SESSION, 'second')
  expect(localStorage.getItem(KEY)).toBe('"first\\nsecond"')
  await sending
  const { text, outgoing, error } = messages.draft(SESSION)
  expect([text, outgoing]).toEqual(['first\nsecond', []])
  expect(error).toContain('connection broke')
})

test('a message to an agent at work shows with the queue, not in the transcript', async () => {
  const messages = useMessages()
  messages.write(SESSION, 'also this')
  const sending = messages.send(makeSession())
  expect(messages.draft(SESSION)).toMatchObject({
    outgoing: [],
    sending: [{ text: 'also this', queued: true }],
  })
  await sending
  expect(messages.draft(SESSION).sending).toEqual([])
})

test('writing to an ended session starts it again under its own id, as chosen', async () => {
  server.answer = () => Promise.resolve({ session_id: SESSION, data: undefined })
  const messages = useMessages()
  messages.choose(SESSION, { permission_mode: 'plan' })
  messages.write(SESSION, 'go on')
  await messages.send(ended)
  expect(server.asked).toEqual([
    {
      ...{ type: 'start_session', cwd: '/srv/api', resume: SESSION },
      ...{ prompt: 'go on', permission_mode: 'plan' },
    },
  ])
  expect(messages.draft(SESSION)).toMatchObject({ text: '', error: null })
  expect(localStorage.getItem(KEY)).toBeNull()
})

test('an agent that was lost is asked to ask again, as chosen, and what is written meanwhile waits', async () => {
  server.answer = () => Promise.resolve({ session_id: SESSION, data: undefined })
  const messages = useMessages()
  messages.choose(SESSION, { model: 'opus' })
  const again = messages.askAgain(ended)
  messages.write(SESSION, 'and this')
  await Promise.all([again, messages.askAgain(ended), messages.send(ended)])
  const start = { type: 'start_session', cwd: '/srv/api', resume: SESSION }
  expect(server.asked).toEqual([
    { ...start, ask_again: true, model: 'opus' },
    { type: 'send_message', session_id: SESSION, content: [{ type: 'text', text: 'and this' }] },
  ])
})

test('a message stays in view until the transcript has it', async () => {
  const messages = useMessages()
  useTranscripts().open(SESSION)
  messages.write(SESSION, 'Hello')
  await messages.send(idle)
  expect(messages.draft(SESSION).outgoing).toEqual(['Hello'])
  expect(localStorage.getItem(KEY)).toBeNull()
  receive({ type: 'transcript', session_id: SESSION, entries: [textEntry(1)] })
  expect(messages.draft(SESSION).outgoing).toEqual([])
})

test('files go to an ended session after it was started, and it is started once', async () => {
  server.answer = () => Promise.resolve({ session_id: SESSION, data: undefined })
  const messages = useMessages()
  messages.attach(SESSION, [makeAttachment('login.png', picture)])
  messages.write(SESSION, 'look')
  const first = messages.send(ended)
  messages.write(SESSION, 'and this')
  await Promise.all([first, messages.send(ended)])
  const send = { type: 'send_message', session_id: SESSION }
  expect(server.asked).toEqual([
    { type: 'start_session', cwd: '/srv/api', resume: SESSION },
    { ...send, content: [picture, { type: 'text', text: 'look' }] },
    { ...send, content: [{ type: 'text', text: 'and this' }] },
  ])
})

test('who does not trust the folder after all has the text back', async () => {
  const trust = { cwd: '/srv/api', digest: 'd', findings: [] }
  const refusal = { code: 'folder_not_trusted' as const, message: 'Not trusted.', trust }
  server.answer = () => Promise.reject(new RefusedError(refusal))
  const messages = useMessages()
  messages.write(SESSION, 'go on')
  const sending = messages.send(ended)
  await expect.poll(() => useTrust().question).not.toBeNull()
  useTrust().answer('cancel')
  await sending
  expect(messages.draft(SESSION)).toMatchObject({ text: 'go on', sending: [], error: null })
})

test('a message that is too large stays, and says so', async () => {
  const messages = useMessages()
  const data = 'A'.repeat(LARGEST_MESSAGE)
  messages.attach(SESSION, [makeAttachment('big.png', { ...picture, data })])
  messages.write(SESSION, 'look')
  await messages.send(idle)
  expect(server.asked).toEqual([])
  expect(messages.draft(SESSION)).toMatchObject({
    text: 'look',
    attachments: [{ size: data.length }],
  })
  expect(messages.draft(SESSION).error).toContain('a message may have 7 MB')
})

test('a draft is the same in every tab', () => {
  const messages = useMessages()
  localStorage.setItem(KEY, '"left behind"')
  messages.load(SESSION)
  expect(messages.draft(SESSION).text).toBe('left behind')
  writtenElsewhere('changed elsewhere')
  expect(messages.draft(SESSION).text).toBe('changed elsewhere')
})

test.each<[string, () => void]>([
  ['somebody is writing here', () => (useMessages().focused = SESSION)],
  ['it came back because it could not be sent', () => useMessages().fail(SESSION, 'Not sent.')],
])('another tab does not take the text away while %s', (_, happened) => {
  const messages = useMessages()
  messages.write(SESSION, 'mine')
  happened()
  writtenElsewhere('theirs')
  expect(messages.draft(SESSION).text).toBe('mine')
})

test('the draft of a removed session is gone', () => {
  useMessages().write(SESSION, 'never')
  receive({ type: 'session_removed', session_id: SESSION })
  expect(localStorage.getItem(KEY)).toBeNull()
})
