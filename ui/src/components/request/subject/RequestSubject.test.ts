import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type { Baseline, FileNow, PendingRequest } from '../../../protocol.gen'
import { answerFetch } from '../../../testing/browser'
import { makeRequest, startStores } from '../../../testing/fixtures'
import RequestSubject from './RequestSubject.vue'

/** What the editor would draw is tested beside it; here the texts it gets matter. */
vi.mock('../../code', async () => {
  const { default: LineDiff } = await import('../../tool/LineDiff.vue')
  return { LazyCodeDiff: LineDiff }
})

let view: VueWrapper

beforeEach(() => {
  startStores()
})
afterEach(() => {
  view.unmount()
  vi.unstubAllGlobals()
})

async function show(part: Partial<PendingRequest>, baseline?: Baseline): Promise<void> {
  answerFetch(() => baseline)
  view = mount(RequestSubject, { props: { request: makeRequest(part) } })
  await flushPromises()
}

const textOf = (id: string) => view.find(`[data-testid="${id}"]`).element.textContent
const has = (id: string) => view.find(`[data-testid="${id}"]`).exists()

/** The changed lines on the screen, with their signs. */
function changes(): string[] {
  const lines = view.findAll('[data-kind]').filter((line) => line.classes('line'))
  const signs: Record<string, string> = { added: '+', removed: '-' }
  return lines.flatMap((line) => {
    const sign = signs[line.attributes('data-kind') ?? '']
    return sign === undefined ? [] : [`${sign}${line.find('code').text()}`]
  })
}

function file(part: Partial<FileNow>): Baseline {
  const known = { path: '/a', resolved_path: null, size: 1, text: null, problem: null }
  return { kind: 'file', state: 'text', ...known, ...part }
}

test('a command is whole, in its parts, with its risks and limits', async () => {
  const command = 'rm -rf a && curl b\u200b'
  await show({
    tool_input: { command, timeout: 120_000, run_in_background: true, sandbox: false },
    command_breaks: [12],
    risks: [
      { kind: 'network', words: 'curl b' },
      { kind: 'deletes', words: 'rm -rf a' },
    ],
  })
  expect(textOf('request-command')).toBe('rm -rf a && curl b⟨U+200B⟩')
  const risks = view.findAll('[data-testid="request-risk"]')
  expect(risks.map((risk) => [risk.text(), risk.attributes('title')])).toEqual([
    ['deletes files', 'rm -rf a'],
    ['network', 'curl b'],
  ])
  expect(textOf('request-facts')).toBe('stops after 2 minin the background')
  expect(textOf('request-input')).toContain('sandbox')
})

test('a command of 64 KB is whole', async () => {
  const command = `echo ${'a b '.repeat(16_384)}end`
  await show({ tool_input: { command } })
  expect(textOf('request-command')).toBe(command)
})

const WRITE = { tool_name: 'Write', tool_input: { file_path: '/a.txt', content: 'one\ntwo\n' } }

test('a new file is its content', async () => {
  await show(WRITE, file({ state: 'missing', size: null }))
  expect(textOf('request-path')).toBe('/a.txt')
  expect(textOf('request-size')).toBe('8 B, 2 lines')
  expect(textOf('request-content')).toBe('one\ntwo\n')
  expect(textOf('request-baseline')).toContain('New file as of')
  expect(has('request-diff')).toBe(false)
})

test('a file that is there is compared, and a link is named', async () => {
  await show(WRITE, file({ text: 'one\nthree\n', resolved_path: '/etc/passwd' }))
  expect(changes()).toEqual(['-three', '+two'])
  expect(view.find('[data-testid="request-baseline"]').attributes('data-state')).toBe('text')
  expect(textOf('request-link')).toContain('/etc/passwd')
})

test.each<[string, Baseline | undefined, string]>([
  ['not text', file({ state: 'binary' }), 'is not text'],
  ['too large', file({ state: 'too_large' }), 'too large'],
  ['not to be had', undefined, 'There is nothing at this address.'],
])('over a file that is %s, the content itself is shown with a warning', async (_, now, words) => {
  await show(WRITE, now)
  expect(textOf('request-warning')).toContain(words)
  expect(textOf('request-content')).toBe('one\ntwo\n')
})

const EDIT = { file_path: '/a.txt', old_string: 'two', new_string: 'zwei' }

test('an edit is shown in the file as it is now', async () => {
  await show({ tool_name: 'Edit', tool_input: EDIT }, file({ text: 'one\nbefore two after\n' }))
  expect(changes()).toEqual(['-before two after', '+before zwei after'])
  expect(has('request-warning')).toBe(false)
})

test('an edit everywhere says how often', async () => {
  const input = { ...EDIT, replace_all: true }
  await show({ tool_name: 'Edit', tool_input: input }, file({ text: 'two\ntwo two two\n' }))
  expect(textOf('request-facts')).toBe('Replaces every occurrence, 4 times')
  expect(changes()).toEqual(['-two', '-two two two', '+zwei', '+zwei zwei zwei'])
})

test.each<[string, Baseline | undefined, string]>([
  ['gone', file({ text: 'one\n' }), 'not in the file any more'],
  ['there twice', file({ text: 'two two' }), 'in the file 2 times'],
  ['in no file', file({ state: 'missing' }), 'The file is not there.'],
  ['in a file that is not text', file({ state: 'binary' }), 'is not text'],
  ['in a file that cannot be had', undefined, 'could not read the file'],
])('an edit of a text that is %s warns and shows what was asked for', async (_, now, words) => {
  await show({ tool_name: 'Edit', tool_input: EDIT }, now)
  expect(textOf('request-warning')).toContain(words)
  expect(changes()).toEqual(['-two', '+zwei'])
})

test('several edits are one change, and lines from Windows do not hide the text', async () => {
  const edits = [
    { old_string: 'one\ntwo', new_string: 'eins\ntwo' },
    { old_string: 'two', new_string: 'zwei' },
  ]
  const input = { file_path: '/a.txt', edits }
  await show({ tool_name: 'MultiEdit', tool_input: input }, file({ text: 'one\r\ntwo\r\n' }))
  expect(changes()).toEqual(['-one', '-two', '+eins', '+zwei'])
  expect(textOf('request-facts')).toContain('CRLF')
})

test('the file is read again when asked', async () => {
  let text = 'two'
  answerFetch(() => file({ text }))
  const request = makeRequest({ tool_name: 'Edit', tool_input: EDIT })
  view = mount(RequestSubject, { props: { request } })
  await flushPromises()
  expect(has('request-warning')).toBe(false)
  text = 'three'
  await view.find('[data-testid="baseline-read"]').trigger('click')
  await flushPromises()
  expect(textOf('request-warning')).toContain('not in the file any more')
})

const NOTEBOOK = JSON.stringify({ cells: [{ id: 'c1', cell_type: 'code', source: ['x = 1'] }] })

test('a cell is compared with itself', async () => {
  const input = { notebook_path: '/a.ipynb', cell_id: 'c1', new_source: 'x = 2' }
  await show({ tool_name: 'NotebookEdit', tool_input: input }, file({ text: NOTEBOOK }))
  expect(changes()).toEqual(['-x = 1', '+x = 2'])
  expect(textOf('request-facts')).toContain('Replaces the cell “c1”')
})

test('a cell that is gone is warned about', async () => {
  const input = { notebook_path: '/a.ipynb', cell_id: 'c2', new_source: 'x = 2' }
  await show({ tool_name: 'NotebookEdit', tool_input: input }, file({ text: NOTEBOOK }))
  expect(textOf('request-warning')).toContain('not in the notebook any more')
  expect(textOf('request-content')).toBe('x = 2')
})

test('an address shows where it leads', async () => {
  const input = { url: 'https://аpple.com/a?b', prompt: 'Find prices' }
  await show({ tool_name: 'WebFetch', tool_input: input })
  expect(textOf('request-host')).toContain('xn--pple-43d.com')
  expect(textOf('request-host')).toContain('аpple.com')
  expect(textOf('request-url')).toBe(input.url)
  expect(view.text()).toContain('Find prices')
})

test.each<[string, unknown, string[]]>([
  ['Read', { file_path: '/a', offset: 10, limit: 5 }, ['/a', 'Lines 10 to 14']],
  ['WebSearch', { query: 'vue', allowed_domains: ['a.b'] }, ['vue', 'Only on a.b']],
  ['Task', { subagent_type: 'tester', description: 'Test', prompt: 'Do it' }, ['tester', 'Do it']],
  ['Agent', { subagent_type: 'tester', prompt: 'Do it', model: 'x' }, ['tester', 'model']],
  ['Skill', { skill: 'pdf', args: '--all' }, ['pdf', '--all']],
  ['mcp__git__push', { remote: 'origin' }, ['git', 'push', 'remote', 'origin']],
  ['Bash', { command: ['ls'] }, ['command', 'ls']],
  ['Odd', 'text', ['Odd', 'text']],
  ['constructor', {}, ['constructor', 'empty']],
])('%s %j shows everything', async (tool_name, tool_input, expected) => {
  await show({ tool_name, tool_input })
  for (const text of expected) expect(view.text()).toContain(text)
})

test('the input as it came is one click away', async () => {
  await show({ tool_name: 'Odd', tool_input: { a: 1 } })
  await view.find('[data-testid="input-raw"]').trigger('click')
  expect(textOf('request-input')).toBe('{\n  "a": 1\n}')
})
