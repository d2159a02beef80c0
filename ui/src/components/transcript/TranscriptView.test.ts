import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { beforeEach, expect, test } from 'vitest'

import { receive } from '../../data/receive'
import { useTranscripts } from '../../data/transcripts'
import type { Outcome, TranscriptEntry } from '../../protocol.gen'
import { makeOutcome, makeSession, SESSION, startStores } from '../../testing/fixtures'
import TranscriptView from './TranscriptView.vue'

let view: VueWrapper
beforeEach(() => {
  startStores()
  useTranscripts().open(SESSION)
  view = mount(TranscriptView, { props: { session: makeSession() } })
})

type Body = TranscriptEntry extends infer Entry
  ? Entry extends TranscriptEntry
    ? Omit<Entry, 'seq' | 'at'>
    : never
  : never

async function show(...bodies: Body[]): Promise<void> {
  const at = '2026-01-02T03:04:05Z'
  const entries = bodies.map((body, index) => ({ seq: index + 1, at, ...body }) as TranscriptEntry)
  receive({ type: 'transcript', session_id: SESSION, entries })
  await flushPromises()
}

const tool: Body = {
  ...{ kind: 'tool_use', message_id: 'm', index: 0, tool_use_id: 't', tool_name: 'Bash' },
  tool_input: { command: 'rm \u202ex' },
}

function decision(outcome: Partial<Outcome>, updated_input: unknown = null): Body {
  const about = { request_id: 'r', request_type: 'tool_approval' as const, tool_name: 'Bash' }
  const made = { outcome: makeOutcome(outcome), answers: null, updated_input }
  return { kind: 'decision', tool_use_id: 't', ...about, ...made }
}

test('a tool call opens to its input, what ran instead and its result', async () => {
  const content = [{ type: 'text' as const, text: 'done' }]
  await show(tool, decision({ edited: true }, { command: 'ls' }), {
    ...{ kind: 'tool_result', tool_use_id: 't', is_error: false, content, structured: null },
  })
  expect(view.find('[data-testid="tool-input"]').exists()).toBe(false)
  await view.find('[data-testid="tool-call"] button').trigger('click')
  expect(view.find('[data-testid="tool-input"]').text()).toBe('rm ⟨U+202E⟩x')
  expect(view.find('[data-testid="tool-result"]').text()).toContain('done')
  expect(view.text()).toContain('Ran instead, as edited')
})

test.each<[Partial<Outcome>, string]>([
  [{}, 'Allowed by you ·'],
  [{ what: 'denied', message: 'Not there.' }, 'Denied by you: Not there. ·'],
  [
    { what: 'expired', by: 'timeout', client: null, message: 'Nobody answered.' },
    'No answer in time ·',
  ],
  [{ what: 'withdrawn', by: 'agent', client: null }, 'Withdrawn by the agent ·'],
])('a decision stands where it fell: %j', async (outcome, expected) => {
  await show(tool, decision(outcome))
  expect(view.find('[data-testid="decision"]').text()).toContain(expected)
})

test('a message sent meanwhile is queued until the turn ends', async () => {
  const content = [{ type: 'text' as const, text: 'Also this' }]
  const message: Body = { kind: 'user_message', message_id: 'u', content, queued: true }
  const end = { is_error: false, reason: null, text: null, duration_ms: 1, cost_usd: 0 }
  await show(message)
  expect(view.text()).toContain('Queued')
  await show(message, { kind: 'turn_ended', ...end })
  expect(view.text()).not.toContain('Queued')
})

test.each([
  [{ is_error: true, reason: 'aborted_tools', text: null }, 'The turn was stopped.'],
  [
    { is_error: true, reason: 'api_error', text: 'Overloaded.' },
    'The turn ended with an error: Overloaded.',
  ],
  [{ is_error: false, reason: 'completed', text: null }, '2.5 s · $0.12'],
])('the end of a turn says how: %j', async (how, expected) => {
  await show({ kind: 'turn_ended', duration_ms: 2500, cost_usd: 0.12, ...how })
  expect(view.find('[data-kind="turn_ended"]').text()).toContain(expected)
})

test('entries of a kind from the future are shown as they came', async () => {
  await show({ kind: 'hologram', light: 7 } as unknown as Body)
  expect(view.find('[data-kind="hologram"]').text()).toContain('"light": 7')
})

test('live text shows while it is written', async () => {
  const delta = { session_id: SESSION, message_id: 'm', index: 0, kind: 'text' as const }
  receive({ type: 'delta', ...delta, text: 'Hello **you' })
  receive({ type: 'delta', ...delta, text: '**' })
  await flushPromises()
  expect(view.find('[data-testid="live-text"] strong').text()).toBe('you')
})
