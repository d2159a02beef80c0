import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { RefusedError } from '../../connection/errors'
import { receive } from '../../data/receive'
import { useTranscripts } from '../../data/transcripts'
import type { Outcome, Session, TranscriptEntry } from '../../protocol.gen'
import { installBrowser } from '../../testing/browser'
import {
  makeOutcome,
  makeSession,
  NO_TOKENS,
  SESSION,
  startStores,
  textEntry,
  type TestServer,
} from '../../testing/fixtures'
import { layOut } from '../../testing/layout'
import TranscriptView from './TranscriptView.vue'

installBrowser()

const AT = '2026-01-02T03:04:05Z'
const FAILED = { error: 'The agent did not react.' }
let server: TestServer
let view: VueWrapper

beforeEach(() => {
  layOut()
  server = startStores()
  useTranscripts().open(SESSION)
  server.asked.length = 0
})
afterEach(() => view.unmount())

function decision(seq: number, what: Outcome['what']): TranscriptEntry {
  const outcome = makeOutcome({ what, by: 'agent', client: null })
  const about = { request_id: 'r', request_type: 'tool_approval' as const, tool_name: 'Bash' }
  const made = { outcome, answers: null, updated_input: null, tool_use_id: null }
  return { seq, at: AT, kind: 'decision', ...about, ...made }
}

function result(seq: number): TranscriptEntry {
  const done = { tool_use_id: 't', content: [], structured: null, is_error: false }
  return { seq, at: AT, kind: 'tool_result', ...done }
}

function notice(seq: number): TranscriptEntry {
  return { seq, at: AT, kind: 'notice', level: 'info', text: 'The session has ended.' }
}

function said(seq: number): TranscriptEntry {
  const content = [{ type: 'text' as const, text: 'go on' }]
  return { seq, at: AT, kind: 'user_message', message_id: 'm', content, queued: false }
}

function turnEnd(seq: number): TranscriptEntry {
  const ended = { is_error: false, reason: null, text: null, duration_ms: 1, cost_usd: 0 }
  return { seq, at: AT, kind: 'turn_ended', ...ended, tokens: NO_TOKENS }
}

async function show(entries: TranscriptEntry[], part: Partial<Session> = {}): Promise<void> {
  const session = makeSession({ state: 'dead', last_seq: entries.length, ...part })
  view = mount(TranscriptView, { props: { session }, attachTo: document.body })
  receive({ type: 'transcript', session_id: SESSION, entries })
  await flushPromises()
}

async function drawn(): Promise<void> {
  for (let frame = 0; frame < 4; frame++) {
    await flushPromises()
    await new Promise((resolve) => requestAnimationFrame(resolve))
  }
}

const button = () => view.find<HTMLButtonElement>('[data-testid="ask-again"]')

test('a request that was lost with its agent can be asked again', async () => {
  server.answer = () => Promise.resolve({ session_id: SESSION, data: undefined })
  await show([textEntry(1), decision(2, 'orphaned')])
  expect(view.text().replace(/\s+/g, ' ')).toContain('takes up the turn in which it was cut off')
  expect(button().text()).toBe('Resume and ask again')
  await button().trigger('click')
  expect(button().element.disabled).toBe(true)
  expect(server.asked).toEqual([
    { type: 'start_session', cwd: '/srv/api', resume: SESSION, ask_again: true },
  ])
  await flushPromises()
  await view.setProps({ session: makeSession({ state: 'starting' }) })
  expect(button().exists()).toBe(false)
})

test('why the agent is gone is said once, above the conversation', async () => {
  const entries = [notice(1), decision(2, 'orphaned'), notice(3)]
  await show(entries, { error: 'The session has ended.' })
  await drawn()
  expect(view.findAll('[data-testid="notice"]')).toHaveLength(1)
  await view.setProps({ session: makeSession({ state: 'starting' }) })
  await drawn()
  expect(view.findAll('[data-testid="notice"]')).toHaveLength(2)
})

test('a refusal says why, and it can be tried again', async () => {
  const refusal = new RefusedError({ code: 'overloaded', message: 'Too many agents.' })
  server.answer = () => Promise.reject(refusal)
  await show([decision(1, 'orphaned')])
  await button().trigger('click')
  await flushPromises()
  expect(view.find('[data-testid="ask-again-error"]').text()).toBe('Too many agents.')
  expect(button().element.disabled).toBe(false)
})

test.each<[string, TranscriptEntry[], Partial<Session>, boolean]>([
  ['something was noted after it', [decision(1, 'orphaned'), notice(2)], {}, true],
  ['it was taken back as the agent died', [decision(1, 'withdrawn'), notice(2)], {}, true],
  ['it was taken back and the agent went on', [decision(1, 'withdrawn'), textEntry(2)], {}, false],
  ['another one was decided', [decision(1, 'orphaned'), decision(2, 'denied')], {}, true],
  ['somebody went on', [decision(1, 'orphaned'), said(2)], {}, false],
  ['the turn ended', [decision(1, 'orphaned'), turnEnd(2)], {}, false],
  ['nothing was lost', [decision(1, 'expired')], {}, false],
  ['it failed with the answer', [decision(1, 'allowed'), notice(2)], FAILED, true],
  ['it failed after the answer', [decision(1, 'allowed'), result(2)], FAILED, false],
  ['the agent runs', [decision(1, 'orphaned')], { state: 'assistant_turn' }, false],
  ['it cannot go on', [decision(1, 'orphaned')], { can_resume: false }, false],
])('it is offered or not when %s', async (_, entries, part, expected) => {
  await show(entries, part)
  expect(button().exists()).toBe(expected)
})
