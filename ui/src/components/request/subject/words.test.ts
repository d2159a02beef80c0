import { expect, test } from 'vitest'

import type { FileNow } from '../../../protocol.gen'
import { comparable } from './lineEnds'
import {
  everywhereText,
  limitText,
  misfit,
  obstacle,
  rangeText,
  riskChips,
  sizeText,
} from './words'

test.each([
  ['', 'empty'],
  ['a', '1 B, 1 line'],
  ['ä\nb\n', '5 B, 2 lines'],
  [`${'x'.repeat(1210)}\n\n`, '1.2 KB, 2 lines'],
  ['x'.repeat(20_000), '20 KB, 1 line'],
])('a text has a size', (text, expected) => {
  expect(sizeText(text)).toBe(expected)
})

test.each([
  [120_000, '2 min'],
  [90_000, '1 min 30 s'],
  [3_600_000, '1 h'],
  [500, '0.5 s'],
])('%i ms are %s', (milliseconds, expected) => {
  expect(limitText(milliseconds)).toBe(expected)
})

test.each([
  [null, null, 'The whole file'],
  [null, 1, 'The first 1 line'],
  [1, 50, 'The first 50 lines'],
  [100, null, 'From line 100 on'],
  [100, 50, 'Lines 100 to 149'],
  [7, 1, 'Line 7'],
])('from %s, %s lines: %s', (offset, limit, expected) => {
  expect(rangeText(offset, limit)).toBe(expected)
})

const FILE: FileNow = {
  path: '/a',
  resolved_path: null,
  state: 'text',
  size: 12_000_000,
  text: null,
  problem: null,
}

test.each<[FileNow['state'], string | null]>([
  ['text', null],
  ['missing', null],
  ['binary', 'The file at this path is not text (12.0 MB).'],
  ['too_large', 'The file at this path is too large to compare (12.0 MB).'],
  ['not_a_file', 'At this path is something that is not a file, such as a folder.'],
  ['unreadable', 'The file at this path cannot be read: permission denied.'],
])('a file that is %s', (state, expected) => {
  expect(obstacle({ ...FILE, state, problem: 'permission denied' })).toBe(expected)
})

test('a change that does not fit', () => {
  expect(misfit({ kind: 'absent', index: 0, count: 0 }, 1)).toBe(
    'The text to replace is not in the file any more.',
  )
  expect(misfit({ kind: 'ambiguous', index: 1, count: 3 }, 4)).toContain(
    'Change 2 of 4: The text to replace is in the file 3 times',
  )
})

test('every occurrence', () => {
  expect([null, 1, 4].map(everywhereText)).toEqual([
    'Replaces every occurrence',
    'Replaces every occurrence, once',
    'Replaces every occurrence, 4 times',
  ])
})

test('risks of one kind are one chip, and what destroys comes first', () => {
  const risks = [
    { kind: 'network' as const, words: 'curl' },
    { kind: 'deletes' as const, words: 'rm a' },
    { kind: 'deletes' as const, words: 'rm b' },
    { kind: 'deletes' as const, words: 'rm a' },
  ]
  expect(riskChips(risks)).toEqual([
    { kind: 'deletes', label: 'deletes files', isDestructive: true, words: ['rm a', 'rm b'] },
    { kind: 'network', label: 'network', isDestructive: false, words: ['curl'] },
  ])
})

test.each([
  ['the same', 'a\nb', 'a\nc', { before: 'a\nb', after: 'a\nc', note: null }],
  [
    'both from Windows',
    'a\r\nb',
    'a\r\nc',
    { before: 'a\nb', after: 'a\nc', note: 'All lines end in CRLF.' },
  ],
  [
    'only the file',
    'a\r\nb',
    'a\nc',
    { before: 'a\nb', after: 'a\nc', note: 'Lines of the file end in CRLF, those written in LF.' },
  ],
  [
    'only the new text',
    'a\nb',
    'a\r\nc',
    { before: 'a\nb', after: 'a\nc', note: 'Lines of the file end in LF, those written in CRLF.' },
  ],
  ['mixed ones stay', 'a\r\nb\n', 'a\n', { before: 'a\r\nb\n', after: 'a\n', note: null }],
])('line ends: %s', (_, before, after, expected) => {
  expect(comparable(before, after)).toEqual(expected)
})
