import { expect, test } from 'vitest'

import type { Token } from '../../text/code'
import { pieceRows } from './pieces'

/** Rows as `text` or `class:text` pieces. */
function rowsOf(text: string, breaks: number[] = [], tokens?: Token[]): string[][] {
  const plain = [{ text, className: '' }]
  return pieceRows(text, tokens ?? plain, breaks).map((row) =>
    row.map((piece) => (piece.className === '' ? piece.text : `${piece.className}:${piece.text}`)),
  )
}

test.each<[string, string, number[], string[][]]>([
  ['nothing', '', [], [[]]],
  ['one row', 'ls', [], [['ls']]],
  ['a row for each part', 'a && b; c', [5, 8], [['a && '], ['b; '], ['c']]],
  ['breaks in any order, some of no use', 'a;b', [2, 0, 2, 9, -1], [['a;'], ['b']]],
  ['a chip is a piece', 'a\u200bb', [], [['a', '⟨U+200B⟩', 'b']]],
  ['a break before a chip', 'a;\u200bb', [2], [['a;'], ['⟨U+200B⟩', 'b']]],
  [
    'a break inside a chip waits for its end',
    `a${' '.repeat(20)}b`,
    [9],
    [['a', '⟨20 spaces⟩'], ['b']],
  ],
])('%s', (_, text, breaks, expected) => {
  expect(rowsOf(text, breaks)).toEqual(expected)
})

test('tokens keep their looks across breaks and chips', () => {
  const text = `if "${' '.repeat(20)}\u0000" x`
  const tokens = [
    { text: 'if', className: 'k' },
    { text: ' ', className: '' },
    { text: `"${' '.repeat(10)}`, className: 's' },
    { text: `${' '.repeat(10)}\u0000" x`, className: 't' },
  ]
  expect(rowsOf(text, [3], tokens)).toEqual([
    ['k:if', ' '],
    ['s:"', '⟨20 spaces⟩', '⟨U+0000⟩', 't:" x'],
  ])
})

test('a command of 64 KB is there to the last character', () => {
  const command = Array.from({ length: 8192 }, (_, index) => `echo ${index % 10};`).join(' ')
  const breaks = Array.from({ length: 8191 }, (_, index) => (index + 1) * 8)
  const rows = rowsOf(command, breaks)
  expect(rows).toHaveLength(8192)
  expect(rows.flat().join('')).toBe(command)
})
