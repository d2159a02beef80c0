import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { receive } from '../../data/receive'
import { useRequests } from '../../data/requests'
import type { PendingRequest, Scope } from '../../protocol.gen'
import { makeMe, makeRequest, makeSession, startStores } from '../../testing/fixtures'
import RequestCard from './RequestCard.vue'

let card: VueWrapper

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  card.unmount()
  window.dispatchEvent(new Event('blur'))
  vi.useRealTimers()
})

async function show(scopes: Scope[], request: PendingRequest) {
  const server = startStores({ me: makeMe({ scopes }) })
  receive({ type: 'request_opened', pending_request: request })
  const props = { request, session: makeSession(), position: 1, total: 1 }
  card = mount(RequestCard, { props, attachTo: document.body })
  useRequests().markSeen(request.request_id)
  vi.advanceTimersByTime(550)
  await flushPromises()
  return server
}

function enabled(): string[] {
  return card
    .findAll<HTMLButtonElement>('button[data-testid]')
    .filter(({ element }) => !element.matches(':disabled'))
    .map((button) => button.attributes('data-testid') ?? '')
}

const NO_ALLOWING = 'This device may answer and refuse, not allow.'
const LOOKING = 'This device may look, not decide.'
const PLAN = { request_type: 'plan_approval' as const, tool_input: { plan: '# Plan' } }
const QUESTION = {
  request_type: 'ask_user_question' as const,
  tool_input: { questions: [{ question: 'Which?', header: 'H', options: [], multiSelect: false }] },
}

test.each<[Scope[], Partial<PendingRequest>, string[], string | null]>([
  [['view'], {}, [], LOOKING],
  [['view', 'answer'], {}, ['deny', 'deny-stop'], NO_ALLOWING],
  [['view', 'answer', 'approve'], {}, ['deny', 'deny-stop', 'edit', 'allow'], null],
  [
    ['view', 'answer', 'approve', 'rules'],
    {},
    ['deny', 'deny-stop', 'edit', 'always-allow', 'allow'],
    null,
  ],
  [['view'], PLAN, ['plan-next-mode'], LOOKING],
  [['view', 'answer'], PLAN, ['plan-comment', 'deny', 'deny-stop', 'plan-next-mode'], NO_ALLOWING],
  [['view'], QUESTION, [], LOOKING],
  [['view', 'answer'], QUESTION, ['question-add-note', 'answer-skip', 'answer-stop'], null],
])('with %o on %o the buttons are %o', async (scopes, part, buttons, note) => {
  await show(scopes, makeRequest(part))
  expect(enabled().filter((id) => !id.startsWith('request-') && id !== 'copy')).toEqual(buttons)
  const notes = card.findAll('[data-testid="scope-note"]').map((one) => one.text())
  expect(notes).toEqual(note === null ? [] : [note])
})

test('no key does what no button may', async () => {
  const server = await show(['view'], makeRequest({ deadline: '2099-01-01T00:00:00Z' }))
  for (const key of ['a', 'Enter', 'd', 'Escape', 'e', 'h']) await card.trigger('keydown', { key })
  expect([server.asked, card.find('[data-testid="deny-reason"]').exists()]).toEqual([[], false])
})
