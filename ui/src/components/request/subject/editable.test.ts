import { expect, test } from 'vitest'

import { editable } from './editable'

const EDITS = [
  { old_string: 'x', new_string: 'a', replace_all: true },
  { old_string: 'y', new_string: 'b' },
]

test.each<[string, unknown, string[], string[], unknown]>([
  ['Bash', { command: 'a', timeout: 1 }, ['a'], ['b'], { command: 'b', timeout: 1 }],
  ['Write', { file_path: '/a', content: 'a' }, ['a'], ['b'], { file_path: '/a', content: 'b' }],
  [
    'Edit',
    { file_path: '/a', old_string: 'x', new_string: 'a', replace_all: true },
    ['a'],
    ['b'],
    { file_path: '/a', old_string: 'x', new_string: 'b', replace_all: true },
  ],
  [
    'MultiEdit',
    { file_path: '/a', edits: EDITS },
    ['a', 'b'],
    ['a', 'c'],
    { file_path: '/a', edits: [EDITS[0], { old_string: 'y', new_string: 'c' }] },
  ],
  [
    'NotebookEdit',
    { notebook_path: '/a', new_source: 'a' },
    ['a'],
    ['b'],
    { notebook_path: '/a', new_source: 'b' },
  ],
  ['Other', { n: 1 }, ['{\n  "n": 1\n}'], ['{"n":2}'], { n: 2 }],
  ['constructor', { n: 1 }, ['{\n  "n": 1\n}'], ['{"n":2}'], { n: 2 }],
  ['__proto__', { n: 1 }, ['{\n  "n": 1\n}'], ['{"n":2}'], { n: 2 }],
  ['Bash', { command: 1 }, ['{\n  "command": 1\n}'], ['{"command":"ls"}'], { command: 'ls' }],
])('editing %s keeps the rest', (tool, input, before, texts, after) => {
  const subject = editable(tool, input)
  expect(subject.texts.map(({ text }) => text)).toEqual(before)
  expect(subject.apply(texts)).toEqual(after)
})

test('a new text stands with the one it replaces', () => {
  const input = { file_path: '/src/a.ts', old_string: 'x', new_string: 'a' }
  expect(editable('Edit', input).texts).toEqual([
    { label: 'New text', text: 'a', filename: '/src/a.ts', replaces: 'x' },
  ])
})

test.each(['{', '[]', '"x"'])('the JSON %s is refused', (text) => {
  expect(() => editable('Other', {}).apply([text])).toThrowError(/JSON/)
})
