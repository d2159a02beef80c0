import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { receive } from '../../data/receive'
import { useToasts } from '../../data/toasts'
import { useTranscripts } from '../../data/transcripts'
import type { Outcome, TranscriptEntry } from '../../protocol.gen'
import { answerFetch, installBrowser } from '../../testing/browser'
import { makeOutcome, makeSession, SESSION, startStores } from '../../testing/fixtures'
import { layOut } from '../../testing/layout'
import TranscriptView from './TranscriptView.vue'

installBrowser()

let view: VueWrapper
beforeEach(() => {
  layOut()
  startStores()
  useTranscripts().open(SESSION)
  view = mount(TranscriptView, { props: { session: makeSession() }, attachTo: document.body })
})
afterEach(() => view.unmount())

type Body = TranscriptEntry extends infer Entry
  ? Entry extends TranscriptEntry
    ? Omit<Entry, 'seq' | 'at'>
    : never
  : never

async function show(...bodies: Body[]): Promise<void> {
  const at = '2026-01-02T03:04:05Z'
  const entries = bodies.map((body, index) => ({ seq: index + 1, at, ...body }) as TranscriptEntry)
  receive({ type: 'transcript', session_id: SESSION, entries })
  await drawn()
}

/** The list learns its height in a frame, and shows rows after that. */
async function drawn(): Promise<void> {
  await flushPromises()
  await new Promise((resolve) => requestAnimationFrame(resolve))
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

test.each<[Partial<Outcome>, string | RegExp]>([
  [{}, 'Allowed by you, '],
  [{ client: { client_id: 'phone', label: 'Pixel 8' } }, 'Allowed by you on Pixel 8, '],
  [{ what: 'denied', message: 'Not there.' }, /^Denied by you, .*: Not there\.$/],
  [
    { what: 'expired', by: 'timeout', client: null, message: 'Nobody answered within 5 minutes.' },
    'No answer in 5 min, ',
  ],
  [{ what: 'withdrawn', by: 'agent', client: null }, 'Withdrawn by the agent, '],
])('a decision stands where it fell: %j', async (outcome, expected) => {
  await show(tool, decision(outcome))
  expect(view.find('[data-testid="decision"]').text()).toMatch(expected)
})

test.each([
  [{ is_error: true, reason: 'aborted_tools', text: null }, 'The turn was stopped.'],
  [
    { is_error: true, reason: 'api_error', text: 'Overloaded.' },
    'The turn ended with an error: Overloaded.',
  ],
  [{ is_error: false, reason: 'completed', text: null }, '2.5 s · 1.2k in · 300 out · $0.12'],
])('the end of a turn says how: %j', async (how, expected) => {
  const tokens = { input: 200, output: 300, cache_read: 1000, cache_write: 0 }
  await show({ kind: 'turn_ended', duration_ms: 2500, cost_usd: 0.12, tokens, ...how })
  expect(view.find('[data-kind="turn_ended"]').text()).toContain(expected)
})

test('entries of a kind from the future are shown as they came', async () => {
  await show({ kind: 'hologram', light: 7 } as unknown as Body)
  expect(view.find('[data-kind="hologram"]').text()).toContain('"light": 7')
})

test('live text shows while it is written, and its entry takes its place', async () => {
  const delta = { session_id: SESSION, message_id: 'm', index: 0, kind: 'text' as const }
  receive({ type: 'delta', ...delta, text: 'Hello **you' })
  receive({ type: 'delta', ...delta, text: '**' })
  await drawn()
  const live = view.find('[data-testid="live-text"]')
  expect(live.find('strong').text()).toBe('you')
  const element = live.element
  await show({ kind: 'assistant_text', message_id: 'm', index: 0, text: 'Hello **you**' })
  expect(view.find('[data-testid="live-text"]').exists()).toBe(false)
  expect(view.find('[data-kind="assistant_text"] .markdown').element).toBe(element)
})

test('retries of one failure are one line that counts', async () => {
  const retry = (count: number): Body => ({
    ...{ kind: 'notice', level: 'warning' },
    text: `The model's service did not answer. Try ${count} of 10, next in 1 s.`,
  })
  await show(retry(1), retry(2), retry(3))
  expect(view.findAll('[data-testid="notice"]').map((notice) => notice.text())).toEqual([
    "Tried 3 times. The model's service did not answer. Try 3 of 10, next in 1 s.",
  ])
})

test('a subagent has its name, its work under it and what it did last', async () => {
  const input = { description: 'Look closer', subagent_type: 'explorer', prompt: 'Look at **it**' }
  const steps = Array.from({ length: 8 }, (_, index): Body => ({
    ...{ kind: 'tool_use', message_id: `s${index}`, index: 0, tool_use_id: `s${index}` },
    ...{ tool_name: 'Bash', tool_input: { command: `step ${index}` }, parent_tool_use_id: 'a' },
  }))
  await show({ ...tool, tool_use_id: 'a', tool_name: 'Task', tool_input: input }, ...steps)
  const agent = view.find('[data-tool-use-id="a"]')
  expect(agent.find('.row-head').text()).toContain('explorerLook closer8 steps')
  expect(agent.findAll('[data-tool-name="Bash"]')).toHaveLength(5)
  await agent.find('[data-testid="show-steps"]').trigger('click')
  expect(agent.findAll('[data-tool-name="Bash"]')).toHaveLength(8)
  await agent.find('.row-head').trigger('click')
  expect(agent.findAll('[data-tool-name="Bash"]')).toHaveLength(0)
  expect(agent.find('.row-head').text()).toContain('Run step 7')
})

test('what was opened is still open after the row was out of the page', async () => {
  await show(tool)
  await view.find('[data-testid="tool-call"] button').trigger('click')
  view.unmount()
  view = mount(TranscriptView, { props: { session: makeSession() }, attachTo: document.body })
  await drawn()
  expect(view.find('[data-testid="tool-input"]').exists()).toBe(true)
})

test('the last to-dos are open, earlier ones are folded', async () => {
  const todos = (id: string, status: string): Body => ({
    ...{ kind: 'tool_use', message_id: id, index: 0, tool_use_id: id, tool_name: 'TodoWrite' },
    tool_input: { todos: [{ content: 'Find the cause', status }] },
  })
  await show(todos('a', 'pending'), todos('b', 'completed'))
  expect(view.findAll('[data-testid="todos"]').map((list) => list.text())).toEqual([
    'done: Find the cause',
  ])
  expect(view.find('[data-tool-use-id="a"]').text()).toContain('0 of 1 done')
})

test('an edit is a diff with its counts, as the agent reports it', async () => {
  const lines = [' same', '-old', '+new', '+more']
  const structured = { structuredPatch: [{ oldStart: 7, newStart: 7, lines }] }
  const tool_input = { file_path: '/srv/api/src/a.ts', old_string: 'old', new_string: 'new' }
  await show(
    { ...tool, tool_name: 'Edit', tool_input },
    {
      ...{ kind: 'tool_result', tool_use_id: 't', is_error: false, content: [], structured },
    },
  )
  const call = view.find('[data-testid="tool-call"]')
  expect(call.find('.row-head').text()).toBe('Editsrc/a.ts+2−1done')
  await call.find('.row-head').trigger('click')
  expect(call.findAll('.line').map((line) => line.text())).toEqual([
    '7 same',
    '8−removed: old',
    '8+added: new',
    '9+added: more',
  ])
})

test('an empty conversation says what can be done', async () => {
  expect(view.find('[data-testid="transcript-empty"]').exists()).toBe(false)
  await view.setProps({ session: makeSession({ state: 'user_turn' }) })
  await flushPromises()
  expect(view.find('[data-testid="transcript-empty"]').text()).toContain('/srv/api')
})

function unasked(tool_use_id: string, stopped = false): Body {
  return { kind: 'unasked_tool', tool_use_id, tool_name: 'Bash', subject: 'rm \u202ex', stopped }
}

/** Presses the button of the red line, and waits until the call is in view. */
async function showCall(): Promise<void> {
  await view.find('[data-testid="unasked-entry-show"]').trigger('click')
  for (let frame = 0; frame < 4; frame++) await drawn()
}

const focusedCall = () =>
  document.activeElement?.closest<HTMLElement>('[data-testid="tool-call"]')?.dataset.toolUseId

test('a tool that ran unasked is a red line that leads to its call', async () => {
  await show(tool, unasked('t', true))
  const line = view.find('[data-testid="unasked-entry"]')
  const words = line.text().replace(/\s+/g, ' ')
  expect(words).toContain('Claude Code ran Bash without asking you, ')
  expect(words).toContain('The agent was stopped for it.')
  expect(line.find('code.line').text()).toBe('rm ⟨U+202E⟩x')
  expect(line.find('[aria-label="Copy what ran"]').exists()).toBe(true)
  await showCall()
  expect(focusedCall()).toBe('t')
  expect(view.find('[data-testid="tool-input"]').exists()).toBe(true)
})

test('a call is found in a folded run, and among the hidden steps of a subagent', async () => {
  const call = (tool_use_id: string, more: object = {}): Body =>
    ({ ...tool, tool_use_id, tool_name: 'Read', tool_input: {}, ...more }) as Body
  const result = (tool_use_id: string): Body => ({
    ...{ kind: 'tool_result', tool_use_id, is_error: false, content: [], structured: null },
  })
  const reads = Array.from({ length: 8 }, (_, index) => [call(`r${index}`), result(`r${index}`)])
  const steps = Array.from({ length: 8 }, (_, index) =>
    call(`s${index}`, { tool_name: 'Bash', parent_tool_use_id: 'a' }),
  )
  const subagent = call('a', { tool_name: 'Task' })
  await show(...reads.flat(), subagent, ...steps, unasked('r3'), unasked('s0'))
  expect(view.find('[data-tool-use-id="r3"]').exists()).toBe(false)
  await showCall()
  expect(focusedCall()).toBe('r3')
  expect(view.find('[data-tool-use-id="s0"]').exists()).toBe(false)
  await view.findAll('[data-testid="unasked-entry-show"]')[1]!.trigger('click')
  for (let frame = 0; frame < 4; frame++) await drawn()
  expect(focusedCall()).toBe('s0')
})

test('a call that stands in an earlier part is read first', async () => {
  const at = '2026-01-02T03:04:05Z'
  const first = { seq: 1, at, ...tool } as TranscriptEntry
  answerFetch(() => ({ entries: [first] }))
  const last = { seq: 2, at, ...unasked('t') } as TranscriptEntry
  receive({ type: 'transcript', session_id: SESSION, entries: [last] })
  await drawn()
  await showCall()
  expect(focusedCall()).toBe('t')
})

test('a call that is nowhere is not looked for in vain', async () => {
  await show(unasked('gone'))
  await showCall()
  expect(useToasts().toasts.map(({ text }) => text)).toEqual([
    'This call is not in the conversation that Sayso has.',
  ])
})
