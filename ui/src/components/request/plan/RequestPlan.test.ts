import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'

import { useRequests } from '../../../data/requests'
import type { AgentInfo, Decision, PendingRequest } from '../../../protocol.gen'
import { answerFetch, installBrowser } from '../../../testing/browser'
import { findEditor, installEditor, typeInto } from '../../../testing/code'
import { makeAgent, makeRequest, makeSession, startStores } from '../../../testing/fixtures'
import { codeEditor } from '../../code/parts'
import RequestPlan from './RequestPlan.vue'

installBrowser()
installEditor()

// The editor measures itself, which takes its time in jsdom.
vi.setConfig({ testTimeout: 20_000 })

const PLAN = '# Speed up login\n\nAdd a cache.\n\n1. Measure\n2. Change'
const MODES = [
  { mode: 'default', label: 'Ask', description: 'Asks first.', dangerous: false },
  { mode: 'acceptEdits', label: 'Accept edits', description: 'Edits.', dangerous: false },
  { mode: 'plan', label: 'Plan', description: 'Plans.', dangerous: false },
  { mode: 'bypassPermissions', label: 'Bypass', description: 'Asks nothing.', dangerous: true },
]
let card: VueWrapper
let before: string | null

beforeAll(() => codeEditor.load(), 60_000)
beforeEach(() => {
  before = null
  answerFetch(({ pathname }) =>
    pathname === '/api/requests/p/baseline' ? { kind: 'plan', text: before } : undefined,
  )
})
afterEach(() => {
  card.unmount()
  vi.unstubAllGlobals()
})

async function show(part: Partial<PendingRequest> = {}, agent: Partial<AgentInfo> = {}) {
  startStores({ agents: [makeAgent({ permission_modes: MODES, ...agent })] })
  await open(part)
}

async function open(part: Partial<PendingRequest> = {}) {
  const request = makeRequest({
    request_id: 'p',
    request_type: 'plan_approval',
    tool_name: 'ExitPlanMode',
    tool_input: { plan: PLAN },
    ...part,
  })
  // Nothing is laid out here, so nothing is in view by itself.
  useRequests().markSeen('p')
  const props = { request, session: makeSession(), disabled: false, sent: false }
  card = mount(RequestPlan, { props, attachTo: document.body })
  await flushPromises()
}

const part = (id: string) => card.find<HTMLInputElement>(`[data-testid="${id}"]`)
const press = (id: string) => part(id).trigger('click')
const decided = () => (card.emitted('decide') ?? []).map(([decision]) => decision as Decision)
const shortcut = (key: string): boolean =>
  (card.vm as unknown as { shortcut: (key: string) => boolean }).shortcut(key)

async function comment(block: number, text: string): Promise<void> {
  await card.findAll('[data-testid="plan-comment"]')[block]?.trigger('click')
  await flushPromises()
  await part('plan-comment-text').setValue(text)
  await part('plan-comment-text').trigger('keydown', { key: 'Escape' })
}

test('approving goes on in the careful mode unless another is chosen; bypass is no choice', async () => {
  await show()
  const modes = card.findAll('[data-testid="plan-mode"]')
  expect(modes.map((row) => row.attributes('data-mode'))).toEqual(['default', 'acceptEdits'])
  await press('allow')
  await card.find('[data-mode="acceptEdits"] input').setValue()
  await press('allow')
  expect(decided()).toEqual([
    { behavior: 'allow', permission_mode: 'default' },
    { behavior: 'allow', permission_mode: 'acceptEdits' },
  ])
})

test('it is approved once all of it has been in view', async () => {
  await show()
  useRequests().seen = new Set()
  await flushPromises()
  expect([part('allow').exists(), part('show-rest').exists()]).toEqual([false, true])
  shortcut('a')
  expect(decided()).toEqual([])
  useRequests().markSeen('p')
  await flushPromises()
  expect([part('allow').exists(), part('show-rest').exists()]).toEqual([true, false])
})

test('comments go back with what they are about', async () => {
  await show()
  await comment(2, 'Measure twice.')
  await comment(1, 'Why?')
  expect(card.findAll('[data-testid="plan-comment-note"]').map((note) => note.text())).toEqual([
    'Why?',
    'Measure twice.',
  ])
  expect(part('deny').text()).toBe('Reject with 2 comments')
  await press('deny')
  await part('deny-reason').setValue('Smaller, please.')
  await part('deny-confirm').trigger('submit')
  expect(decided()).toEqual([
    {
      behavior: 'deny',
      message:
        'Comments on the plan:\n\n> Add a cache.\n\nWhy?\n\n> 1. Measure\n> 2. Change\n\n' +
        'Measure twice.\n\nOn the plan as a whole:\n\nSmaller, please.',
    },
  ])
})

test('comments and reason are there again after a reload, and Esc loses nothing', async () => {
  await show()
  await comment(0, 'Shorter.')
  await press('deny')
  await part('deny-reason').setValue('No.')
  await part('deny-reason').trigger('keydown', { key: 'Escape' })
  expect([part('deny').text(), decided()]).toEqual(['Reject with 1 comment', []])
  card.unmount()
  await open()
  expect(part('plan-comment-note').text()).toBe('Shorter.')
  await press('deny')
  expect(part('deny-reason').element.value).toBe('No.')
})

test('Enter in the reason sends it', async () => {
  await show()
  await press('deny')
  await part('deny-reason').setValue('No.')
  await part('deny-reason').trigger('keydown', { key: 'Enter' })
  await press('deny-cancel')
  await press('deny-stop')
  expect(decided()).toEqual([
    { behavior: 'deny', message: 'No.' },
    { behavior: 'deny', interrupt: true },
  ])
})

test('an edited plan is what is approved', async () => {
  await show({ tool_input: { plan: PLAN, allowed: ['tests'] } })
  expect(part('plan-others').text()).toContain('tests')
  await press('edit')
  typeInto(await findEditor(card.element, 'plan-edit'), 'Only measure.')
  await flushPromises()
  expect(part('allow').text()).toBe('Approve as edited')
  await press('allow')
  expect(decided()).toEqual([
    {
      behavior: 'allow',
      permission_mode: 'default',
      updated_input: { plan: 'Only measure.', allowed: ['tests'] },
    },
  ])
  await press('plan-discard')
  expect(part('allow').text()).toBe('Approve')
})

test('Esc leaves the editor and keeps what was written', async () => {
  await show()
  await press('edit')
  const view = await findEditor(card.element, 'plan-edit')
  typeInto(view, 'Only measure.')
  const key = { key: 'Escape', bubbles: true, composed: true, cancelable: true }
  view.contentDOM.dispatchEvent(new KeyboardEvent('keydown', key))
  await flushPromises()
  expect(part('plan-text').exists()).toBe(true)
  expect(part('plan-edited').text()).toContain('Approving it sends your version')
})

test('the plan before is compared when there was one', async () => {
  await show()
  expect(part('plan-changes').exists()).toBe(false)
  card.unmount()
  before = 'Add two caches.'
  await open()
  await press('plan-changes')
  await flushPromises()
  expect(part('plan-diff').exists()).toBe(true)
  await press('plan-changes')
  expect(part('plan-text').exists()).toBe(true)
})

test('keys decide and open, but not in the second step', async () => {
  await show()
  expect([shortcut('a'), shortcut('x')]).toEqual([true, false])
  expect(shortcut('d')).toBe(true)
  await flushPromises()
  expect(document.activeElement).toBe(part('deny-reason').element)
  expect(['a', 'Enter', 'd', 'e'].map(shortcut)).toEqual([false, false, false, false])
  expect([shortcut('Escape'), decided().length]).toEqual([true, 1])
  await flushPromises()
  expect(part('deny-reason').exists()).toBe(false)
  expect([shortcut('e'), shortcut('Escape'), decided().length]).toEqual([true, true, 1])
  await flushPromises()
  expect(part('plan-text').exists()).toBe(true)
  expect([shortcut('Enter'), decided().length]).toEqual([true, 2])
})

test('a plan that cannot be shown exactly can only be rejected or edited', async () => {
  await show({ input_faithful: false })
  expect([part('allow').element.disabled, shortcut('a')]).toEqual([true, false])
})

test('an agent that takes no words is rejected at once, and gets no comments', async () => {
  const { capabilities } = makeAgent()
  await show({}, { capabilities: { ...capabilities, deny_message: false } })
  expect(part('plan-comment').exists()).toBe(false)
  await press('deny')
  expect(decided()).toEqual([{ behavior: 'deny' }])
})

test('a plan without text says so', async () => {
  await show({ tool_input: {} })
  expect(part('plan-text').text()).toBe('The agent sent no plan text.')
})
