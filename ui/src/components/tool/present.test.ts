import { expect, test } from 'vitest'

import { present, summary, type Presentation } from './present'

function shown(part: Partial<Presentation>): Presentation {
  const nothing = { command: null, path: null, content: null, words: null, rest: null }
  return { ...nothing, replacements: [], ...part }
}

test.each<[string, string, unknown, Partial<Presentation>]>([
  [
    'a command and what else it would do',
    'Bash',
    { command: 'ls', description: 'List', run_in_background: true },
    { command: 'ls', words: 'List', rest: { run_in_background: true } },
  ],
  [
    'a file and its content',
    'Write',
    { file_path: '/a', content: 'x' },
    { path: '/a', content: 'x' },
  ],
  [
    'an edit',
    'Edit',
    { file_path: '/a', old_string: 'x', new_string: 'y', replace_all: false },
    { path: '/a', replacements: [{ before: 'x', after: 'y' }] },
  ],
  [
    'an edit of every place says so',
    'Edit',
    { file_path: '/a', old_string: 'x', new_string: 'y', replace_all: true },
    { path: '/a', replacements: [{ before: 'x', after: 'y' }], rest: { replace_all: true } },
  ],
  [
    'several edits',
    'MultiEdit',
    { file_path: '/a', edits: [{ old_string: 'x', new_string: 'y' }] },
    { path: '/a', replacements: [{ before: 'x', after: 'y' }] },
  ],
  [
    'several edits with something unknown in them are shown as they are',
    'MultiEdit',
    { edits: [{ old_string: 'x', new_string: 'y', all: true }] },
    { rest: { edits: [{ old_string: 'x', new_string: 'y', all: true }] } },
  ],
  ['a command of the wrong type', 'Bash', { command: ['ls'] }, { rest: { command: ['ls'] } }],
  ['another tool', 'WebFetch', { url: 'u' }, { rest: { url: 'u' } }],
  ['an input that is no object', 'Odd', [1], { rest: [1] }],
])('%s', (_, tool, input, expected) => {
  expect(present(tool, input)).toEqual(shown(expected))
})

test.each<[string, unknown, string]>([
  ['Bash', { command: 'rm -rf x\nls\n' }, 'rm -rf x (+1 line)'],
  ['Bash', { command: 'a\u202eb' }, 'a⟨U+202E⟩b'],
  ['WebSearch', { query: 'rust' }, 'rust'],
  ['Odd', null, ''],
])('in one line: %s %j', (tool, input, expected) => {
  expect(summary(tool, input)).toBe(expected)
})
