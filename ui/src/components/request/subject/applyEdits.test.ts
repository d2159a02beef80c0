import { expect, test } from 'vitest'

import { applyEdits, readEdits, type EditInput, type EditResult } from './applyEdits'

const edit = (before: string, after: string, everywhere = false) => ({ before, after, everywhere })

test.each<[string, string, ReturnType<typeof edit>[], EditResult]>([
  ['once', 'a b c', [edit('b', 'x')], { kind: 'applied', text: 'a x c', counts: [1] }],
  [
    'everywhere',
    'a a a a',
    [edit('a', 'b', true)],
    { kind: 'applied', text: 'b b b b', counts: [4] },
  ],
  [
    'one after the other',
    'a',
    [edit('a', 'b b'), edit('b', 'c', true)],
    { kind: 'applied', text: 'c c', counts: [1, 2] },
  ],
  [
    'signs that mean something elsewhere are text',
    'price: $1',
    [edit('$1', '$& $$ \\1')],
    { kind: 'applied', text: 'price: $& $$ \\1', counts: [1] },
  ],
  ['not there', 'a', [edit('b', 'c')], { kind: 'absent', index: 0, count: 0 }],
  [
    'not there any more after the first',
    'a',
    [edit('a', 'b'), edit('a', 'c')],
    { kind: 'absent', index: 1, count: 0 },
  ],
  ['there more than once', 'a a a', [edit('a', 'b')], { kind: 'ambiguous', index: 0, count: 3 }],
  ['a new file', '', [edit('', 'a\n')], { kind: 'applied', text: 'a\n', counts: [1] }],
  ['a new file where one is', 'a', [edit('', 'b')], { kind: 'occupied', index: 0, count: 0 }],
])('%s', (_, text, edits, expected) => {
  expect(applyEdits(text, edits)).toEqual(expected)
})

test.each<[string, string, unknown, EditInput]>([
  [
    'an edit',
    'Edit',
    { file_path: '/a', old_string: 'x', new_string: 'y', replace_all: true },
    { path: '/a', edits: [edit('x', 'y', true)], rest: null },
  ],
  [
    'an edit with something more',
    'Edit',
    { file_path: '/a', old_string: 'x', new_string: 'y', why: 'z' },
    { path: '/a', edits: [edit('x', 'y')], rest: { why: 'z' } },
  ],
  [
    'several edits',
    'MultiEdit',
    { file_path: '/a', edits: [{ old_string: 'x', new_string: 'y' }] },
    { path: '/a', edits: [edit('x', 'y')], rest: null },
  ],
  [
    'something unknown in one of several',
    'MultiEdit',
    { file_path: '/a', edits: [{ old_string: 'x', new_string: 'y', why: 'z' }] },
    {
      path: '/a',
      edits: [],
      rest: { edits: [{ old_string: 'x', new_string: 'y', why: 'z' }] },
    },
  ],
  [
    'another shape',
    'Edit',
    { file_path: '/a', old_string: 1, new_string: 'y' },
    { path: '/a', edits: [], rest: { old_string: 1, new_string: 'y' } },
  ],
  ['no object', 'Edit', [1], { path: null, edits: [], rest: [1] }],
])('reads %s', (_, tool, input, expected) => {
  expect(readEdits(tool, input)).toEqual(expected)
})
