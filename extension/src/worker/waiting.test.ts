import type { ServerMessage } from '@ui/protocol.gen'
import {
  makeMe,
  makeOutcome,
  makeRequest,
  makeSession,
  makeWelcome,
  SESSION,
} from '@ui/testing/fixtures'
import { expect, test } from 'vitest'

import { heard, NOBODY_WAITS } from './waiting'

const first = makeRequest({ request_id: 'first' })
const second = makeRequest({ request_id: 'second' })
const snapshot = makeWelcome({
  sessions: [makeSession()],
  pending_requests: [first],
  me: makeMe({ name: 'Panel' }),
})
const closed = (request_id: string): ServerMessage => ({
  ...{ type: 'request_closed', request_id, session_id: SESSION, outcome: makeOutcome() },
})

function after(...messages: ServerMessage[]): string[] {
  const waiting = messages.reduce(heard, NOBODY_WAITS)
  return waiting.requests.map(({ request_id }) => request_id)
}

test('a snapshot replaces what was known, and what follows changes it', () => {
  const opened: ServerMessage = { type: 'request_opened', pending_request: second }
  expect(after(snapshot, opened)).toEqual(['first', 'second'])
  expect(after(snapshot, opened, opened)).toEqual(['first', 'second'])
  expect(after(snapshot, opened, closed('first'))).toEqual(['second'])
  expect(after(snapshot, opened, closed('unknown'))).toEqual(['first', 'second'])
  expect(after(snapshot, opened, snapshot)).toEqual(['first'])
  expect(after(snapshot, { type: 'session_removed', session_id: SESSION })).toEqual([])
})

test('what is about something else changes nothing', () => {
  const before = heard(NOBODY_WAITS, snapshot)
  expect(before.me?.name).toBe('Panel')
  expect(heard(before, { type: 'rules', rules: [] })).toBe(before)
})
