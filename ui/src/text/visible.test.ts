import { expect, test } from 'vitest'

import { chips, segments, visible } from './visible'

const spaces = (count: number): string => ' '.repeat(count)
const lines = (count: number): string => '\n'.repeat(count)

test.each([
  ['15 spaces inside a line stay', `a${spaces(15)}b`, `a${spaces(15)}b`],
  ['16 are marked', `a${spaces(16)}b`, 'a⟨16 spaces⟩b'],
  ['at the end of a line too', `a${spaces(16)}\nb`, 'a⟨16 spaces⟩\nb'],
  ['indentation may be deeper', `a\n${spaces(39)}b`, `a\n${spaces(39)}b`],
  ['but not that deep', `a\n${spaces(40)}b`, 'a\n⟨40 spaces⟩b'],
  ['at the very beginning too', `${spaces(120)}b`, '⟨120 spaces⟩b'],
  ['tabs count', `a${'\t'.repeat(20)}b`, 'a⟨20 tabs⟩b'],
  ['spaces and tabs together', `a${' \t'.repeat(8)}b`, 'a⟨16 spaces and tabs⟩b'],
  ['after a character that is not seen', `a\u200b${spaces(16)}b`, 'a⟨U+200B⟩⟨16 spaces⟩b'],
  ['four blank lines stay', `a${lines(5)}b`, `a${lines(5)}b`],
  ['five are marked, on a line of their own', `a${lines(6)}b`, 'a\n⟨5 blank lines⟩\nb'],
  ['at the beginning', `${lines(8)}b`, '⟨8 blank lines⟩\nb'],
  ['at the end', `a${lines(9)}`, 'a\n⟨8 blank lines⟩\n'],
  ['four and the end of the text stay', `a${lines(5)}`, `a${lines(5)}`],
  ['with blanks in them', `a\n \n\t\n\n${spaces(50)}\n\n  b`, 'a\n⟨5 blank lines⟩\n  b'],
])('blank runs: %s', (_, text, expected) => {
  expect(visible(text)).toBe(expected)
})

test('output keeps its columns and prose its layout, and both show what is hidden', () => {
  const text = `a${spaces(30)}b\u202e${lines(8)}c`
  const expected = `a${spaces(30)}b⟨U+202E⟩${lines(8)}c`
  expect([visible(text, 'output'), visible(text, 'prose')]).toEqual([expected, expected])
})

test('a chip says what it stands for and where it stands', () => {
  expect(chips(`a\u200b${spaces(20)}\u{e0041}`)).toEqual([
    {
      from: 1,
      to: 2,
      label: '⟨U+200B⟩',
      title: 'A character that cannot be seen: zero width space',
    },
    { from: 2, to: 22, label: '⟨20 spaces⟩', title: '20 spaces in a row stand here' },
    { from: 22, to: 24, label: '⟨U+E0041⟩', title: 'A character that cannot be seen' },
  ])
})

test('text and chips in order', () => {
  expect(segments('a\u0000b')).toEqual([
    { text: 'a', title: null },
    { text: '⟨U+0000⟩', title: 'A character that cannot be seen: null' },
    { text: 'b', title: null },
  ])
})

test('long runs are found in no time', () => {
  const text = `${spaces(200_000)}x${'\n '.repeat(100_000)}y${'a '.repeat(100_000)}`
  const started = performance.now()
  expect(chips(text)).toHaveLength(2)
  expect(performance.now() - started).toBeLessThan(500)
})
