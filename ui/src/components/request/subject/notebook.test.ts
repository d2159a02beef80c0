import { expect, test } from 'vitest'

import { cellText, findCell, readNotebook, type CellMode } from './notebook'

const TEXT = JSON.stringify({
  cells: [
    { id: 'first', cell_type: 'markdown', source: ['# A\n', 'b'] },
    { cell_type: 'code', source: 'x = 1' },
  ],
  metadata: { language_info: { file_extension: '.jl' } },
})
const CELLS = [
  { id: 'first', type: 'markdown', source: '# A\nb' },
  { id: null, type: 'code', source: 'x = 1' },
]

test('a notebook is its cells', () => {
  expect(readNotebook(TEXT)).toEqual({ cells: CELLS, extension: '.jl' })
})

test.each(['', '[]', '{"cells":[1]}', '{"cells":[{"cell_type":"code","source":1}]}'])(
  '%s is no notebook',
  (text) => {
    expect(readNotebook(text)).toBeNull()
  },
)

test.each([
  ['first', CELLS[0]],
  ['cell-1', CELLS[1]],
  ['1', CELLS[1]],
  ['cell-2', null],
  ['other', null],
])('the cell %s', (id, expected) => {
  const notebook = { cells: CELLS, extension: '.py' }
  expect(findCell(notebook, id)).toEqual(expected)
})

test.each<[CellMode, string | null, string | null, string]>([
  ['replace', 'a', null, 'Replaces the cell “a”'],
  ['insert', null, 'code', 'Inserts a code cell at the beginning'],
  ['insert', 'a', 'markdown', 'Inserts a markdown cell after the cell “a”'],
  ['delete', 'a', null, 'Deletes the cell “a”'],
])('%s %s %s', (mode, cell, type, expected) => {
  expect(cellText(mode, cell, type)).toBe(expected)
})
