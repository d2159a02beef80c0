import { expect, test } from 'vitest'

import type { EntryOf } from '../../data/arrange'
import { describe } from './describe'
import { briefResult, changeCounts, changeOf } from './results'

const CWD = '/srv/api'

test.each<[string, unknown, string]>([
  ['Bash', { command: 'npm ci\nnpm test' }, 'Run npm ci (+1 more)'],
  ['Read', { file_path: '/srv/api/src/login.ts' }, 'Read src/login.ts'],
  ['Read', { file_path: '/etc/hosts' }, 'Read /etc/hosts'],
  ['Edit', { file_path: '/srv/api-other/a.ts' }, 'Edit /srv/api-other/a.ts'],
  ['Grep', { pattern: 'a.*b', path: '/srv/api/src' }, 'Search a.*b in src'],
  ['TodoWrite', { todos: [{ content: 'x', status: 'completed' }, {}] }, 'To-dos 1 of 2 done'],
  ['AskUserQuestion', { questions: [{ question: 'Which?' }, {}] }, 'Question Which? (+1 more)'],
  ['mcp__linear__create_issue', { title: 'Mend it' }, 'create_issue (linear) Mend it'],
  ['constructor', { a: 'b' }, 'constructor b'],
  ['Bash', 'odd', 'Run '],
  ['Bash', { command: 'ls \u202egnp' }, 'Run ls ⟨U+202E⟩gnp'],
])('%s %j reads as %s', (tool, input, expected) => {
  const { verb, subject } = describe(tool, input, CWD)
  expect(`${verb} ${subject}`).toBe(expected)
})

function result(structured: unknown, text = '', is_error = false): EntryOf<'tool_result'> {
  const content = [{ type: 'text' as const, text }]
  const at = '2026-01-02T03:04:05Z'
  return { seq: 2, at, kind: 'tool_result', tool_use_id: 't', is_error, content, structured }
}

test.each<[string, EntryOf<'tool_result'>, string]>([
  ['Read', result({ type: 'text', file: { numLines: 120 } }), '120 lines'],
  ['Read', result(null, '1\ta\n2\tb'), '2 lines'],
  ['Glob', result({ numFiles: 1 }), '1 file'],
  ['Grep', result({ mode: 'content', numLines: 4 }), '4 lines'],
  ['Grep', result({ mode: 'files_with_matches', numFiles: 3 }), '3 files'],
  ['Agent', result({ isAsync: true }), 'in the background'],
  ['Read', result(null, 'no such file', true), ''],
  ['Bash', result({ stdout: 'x' }), ''],
])('the result of %s in a word: %#', (tool, given, expected) => {
  expect(briefResult(tool, given)).toBe(expected)
})

test('a change counts as it was made, or else as it was asked for', () => {
  const input = { file_path: '/a', old_string: 'a\nb', new_string: 'a\nc\nd' }
  expect(changeCounts(changeOf('Edit', input, null))).toEqual({ added: 2, removed: 1 })
  const made = result({ structuredPatch: [{ oldStart: 1, newStart: 1, lines: ['-a', '+b'] }] })
  expect(changeCounts(changeOf('Edit', input, made))).toEqual({ added: 1, removed: 1 })
  const write = { file_path: '/a', content: 'x\ny\n' }
  expect(changeCounts(changeOf('Write', write, result({ structuredPatch: [] })))).toEqual({
    added: 2,
    removed: 0,
  })
})
