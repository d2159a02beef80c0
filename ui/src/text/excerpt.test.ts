import { expect, test } from 'vitest'

import { excerpt, type Excerpt } from './excerpt'

const HUNDRED = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`).join('\n')
const WHOLE = { hiddenLines: 0, hiddenBytes: 0 }

test.each<[string, Excerpt, Excerpt]>([
  ['a short text is whole', excerpt('a\nb', 10, 'start'), { shown: 'a\nb', ...WHOLE }],
  [
    'one line more is not worth a button',
    excerpt('a\nb\nc\nd', 4, 'start'),
    { shown: 'a\nb\nc\nd', ...WHOLE },
  ],
  [
    'the first lines',
    excerpt(HUNDRED, 2, 'start'),
    { shown: 'line 1\nline 2', hiddenLines: 98, hiddenBytes: 778 },
  ],
  [
    'the last lines',
    excerpt(HUNDRED, 2, 'end'),
    { shown: 'line 99\nline 100', hiddenLines: 98, hiddenBytes: 775 },
  ],
  [
    'a single endless line, counted in bytes',
    excerpt('é'.repeat(10_000), 2, 'start'),
    { shown: 'é'.repeat(800), hiddenLines: 0, hiddenBytes: 18_400 },
  ],
])('%s', (_, made, expected) => {
  expect(made).toEqual(expected)
})
