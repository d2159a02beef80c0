import { flushPromises, mount, RouterLinkStub, type VueWrapper } from '@vue/test-utils'
import { afterEach, expect, test, vi } from 'vitest'

import type { HistoryDetail as Detail, HistoryEntry, Session } from '../../protocol.gen'
import { installBrowser } from '../../testing/browser'
import { makeSession, SESSION, startStores } from '../../testing/fixtures'
import { answerHistory, makeHistoryEntry, makeRecord } from '../../testing/history'
import HistoryDetail from './HistoryDetail.vue'

installBrowser()

let view: VueWrapper
afterEach(() => view.unmount())

async function show(
  record: unknown,
  entry: Partial<HistoryEntry> = {},
  related: Partial<HistoryEntry>[] = [],
  sessions: Session[] = [makeSession()],
): Promise<void> {
  const detail: Detail = {
    entry: makeHistoryEntry({ seq: 7, ...entry }),
    record,
    related: related.map(makeHistoryEntry),
  }
  await showDetail(detail, sessions)
}

async function showDetail(detail: Detail, sessions: Session[] = []): Promise<string[]> {
  startStores({ sessions })
  const asked = answerHistory({ details: { 7: detail } })
  view = mount(HistoryDetail, {
    props: { seq: 7, address: { tool: 'Bash' }, isAlone: false },
    global: { stubs: { RouterLink: RouterLinkStub } },
  })
  await flushPromises()
  return asked
}

const part = (id: string) => view.find(`[data-testid="${id}"]`)
const words = (id: string) => part(id).text().replace(/\s+/g, ' ')
const target = (id: string): unknown => {
  const links = view.findAllComponents(RouterLinkStub)
  return links.find((link) => link.attributes('data-testid') === id)?.props('to')
}
const changes = (id: string) =>
  part(id)
    .findAll('[data-kind]')
    .map((line) => [line.attributes('data-kind'), line.find('code').text()])

test('a decision says what was asked, who decided, when, how fast and why', async () => {
  await show(
    makeRecord(
      { tool_input: { command: 'npm test', description: 'Run the tests' } },
      {
        message: 'Not now.\u200b',
        shown: {
          title: null,
          description: 'Run the tests',
          decision_reason: 'No rule allows it',
          agent_label: 'tester',
          risks: [{ kind: 'network', words: 'npm test' }],
        },
      },
    ),
  )
  expect(words('history-command')).toBe('npm test')
  expect(words('history-detail-by')).toBe('You on Pixel 8')
  expect(words('history-latency')).toContain('12 s, asked')
  expect(words('history-reason')).toBe('Not now.⟨U+200B⟩')
  expect(words('history-digest')).toBe('sha256:abc')
  expect(words('history-words')).toBe('The agent says: “Run the tests”')
  expect(words('request-risk')).toBe('network')
  const text = view.text().replace(/\s+/g, ' ')
  for (const expected of ['Allowed', 'Bash', 'No. 7', 'No rule allows it', 'tester', '/srv/api']) {
    expect(text).toContain(expected)
  }
})

test('it leads to the session and to the call in it', async () => {
  await show(makeRecord())
  const session = { name: 'session', params: { sessionId: SESSION } }
  expect(target('history-detail-session')).toEqual(session)
  expect(target('history-transcript')).toEqual({ ...session, query: { call: 'toolu_1' } })
})

test('a session that is gone is named as that', async () => {
  await show(makeRecord(), {}, [], [])
  expect([target('history-detail-session'), words('history-facts')]).toEqual([
    undefined,
    expect.stringContaining('It was deleted.'),
  ])
})

test('an edit shows its change', async () => {
  const tool_input = { file_path: '/a.txt', old_string: 'one\ntwo', new_string: 'one\nzwei' }
  await show(makeRecord({ tool_name: 'Edit', tool_input }))
  expect(words('request-path')).toBe('/a.txt')
  expect(changes('history-diff')).toEqual([
    ['same', 'one'],
    ['removed', 'two'],
    ['added', 'zwei'],
  ])
})

test('a new file shows its content, and nothing of an input stays out of sight', async () => {
  const tool_input = { file_path: '/a.txt', content: 'x\u202ey', mode: 7 }
  await show(makeRecord({ tool_name: 'Write', tool_input }))
  expect(words('history-content')).toBe('x⟨U+202E⟩y')
  expect(words('request-input')).toContain('mode7')
})

test('what a human changed stands beside what was asked', async () => {
  const decision = { behavior: 'allow', updated_input: { command: 'npm run test', timeout: 5 } }
  await show(makeRecord({}, { decision }))
  expect(words('history-command')).toBe('npm test')
  expect(changes('history-changes')).toEqual([
    ['removed', 'npm test'],
    ['added', 'npm run test'],
    ['added', '5'],
  ])
})

test('the same input again is no change', async () => {
  const decision = { behavior: 'allow', updated_input: { command: 'npm test' } }
  await show(makeRecord({}, { decision }))
  expect(part('history-changes').exists()).toBe(false)
})

test('questions show what could be chosen and what was', async () => {
  const options = [{ label: 'Red', description: 'warm' }, { label: 'Blue' }]
  const tool_input = {
    questions: [
      { question: 'Which colour?', header: 'Colour', options },
      { question: 'Which size?', options: [], multiSelect: true },
    ],
  }
  const answers = { 'Which colour?': 'Blue', 'Which size?': ['42'] }
  const decision = { behavior: 'answer', answers, notes: { 'Which colour?': 'dark' } }
  const request = { request_type: 'ask_user_question', tool_name: 'AskUserQuestion', tool_input }
  await show(makeRecord(request, { decision: { ...decision, updated_input: { questions: [] } } }))
  expect(view.findAll('[data-chosen="true"]').map((row) => row.text())).toEqual([
    'Chosen: Blue',
    'Other: 42',
  ])
  expect(view.text()).toContain('warm')
  expect(view.text()).toContain('“dark”')
  expect(part('history-changes').exists()).toBe(false)
})

test('a plan reads as a document', async () => {
  const tool_input = { plan: '# Steps\n\n<script>x</script>' }
  await show(makeRecord({ request_type: 'plan_approval', tool_name: 'ExitPlanMode', tool_input }))
  expect(part('history-plan').find('h1').text()).toBe('Steps')
  expect(view.find('script').exists()).toBe(false)
})

test('what the tool did stands below the decision', async () => {
  await show(makeRecord(), {}, [
    { seq: 7 },
    { seq: 9, kind: 'outcome', outcome: 'failed', by: 'agent', text: 'exit 1\nmore' },
  ])
  expect(view.text()).toContain('What came of it')
  expect(view.findAll('[data-testid="history-related"]')).toHaveLength(1)
  expect(part('history-related').attributes('data-outcome')).toBe('failed')
  expect(words('history-related')).toContain('exit 1')
  expect(target('history-related')).toEqual({
    ...{ name: 'history', params: { seq: 9 }, query: { tool: 'Bash' } },
  })
})

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a text', 'odd\u202e'],
  ['an empty object', {}],
  ['a request without an input', { request: { tool_name: 'Bash' } }],
  [
    'fields of other types',
    { request: { tool_input: 7 }, shown: { risks: [1, {}], title: 3 }, decision: [] },
  ],
  ['answers of another type', makeRecord({ tool_input: { questions: [1] } }, { decision: 'x' })],
  [
    'a kind of risk and a time of another version',
    makeRecord(
      { created_at: 'soon' },
      { shown: { risks: [{ kind: 'new', words: 'x' }] }, latency_ms: 'x' },
    ),
  ],
])('a record that is %s still shows', async (_, record) => {
  await show(record, { text: 'npm\ntest' })
  expect(part('history-record').exists()).toBe(true)
  expect(view.text()).toContain('You on Pixel 8')
})

test('other kinds show their text and their record', async () => {
  const record = { rule: { rule: 'Bash(ls:*)', effect: 'allow' } }
  await show(record, { kind: 'rule', outcome: 'added', tool_name: null, text: 'Bash(ls:*)' })
  expect(words('history-text')).toBe('Bash(ls:*)')
  expect(part('history-record').attributes('open')).toBeDefined()
  expect(words('history-record-text')).toContain('effectallow')
})

test('the record is copied as JSON', async () => {
  const writeText = vi.fn(() => Promise.resolve())
  vi.stubGlobal('navigator', { clipboard: { writeText } })
  const record = makeRecord()
  await show(record)
  await part('history-copy').trigger('click')
  expect(writeText).toHaveBeenCalledWith(JSON.stringify(record, null, 2))
  await flushPromises()
  expect(words('history-copy')).toBe('Copied')
  vi.unstubAllGlobals()
})

test('an entry that is not there says so, and can be tried again', async () => {
  startStores()
  answerHistory({})
  view = mount(HistoryDetail, {
    props: { seq: 7, address: {}, isAlone: true },
    global: { stubs: { RouterLink: RouterLinkStub } },
  })
  expect(part('history-loading').exists()).toBe(true)
  await flushPromises()
  expect(words('history-detail-error')).toContain('There is nothing at this address.')
  expect(target('history-back')).toEqual({ name: 'history', query: {} })
  answerHistory({ details: { 7: { entry: makeHistoryEntry(), record: {}, related: [] } } })
  await part('history-retry').trigger('click')
  await flushPromises()
  expect(part('history-record').exists()).toBe(true)
})

test('the next entry takes the place of the one before', async () => {
  await show(makeRecord())
  const entry = makeHistoryEntry({ seq: 8, outcome: 'denied' })
  const asked = answerHistory({ details: { 8: { entry, record: makeRecord(), related: [] } } })
  await view.setProps({ seq: 8 })
  expect(part('history-detail').attributes('aria-busy')).toBe('true')
  await flushPromises()
  expect([asked, view.text().includes('Denied')]).toEqual([['/api/history/8'], true])
})
