import { expect, test } from 'vitest'

import { changedHunks } from './lines'

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => String(from + index))

test('only what is near a change is shown, with the numbers of its lines', () => {
  const before = numbers(1, 20)
  const after = [...before]
  after[4] = 'five'
  after.splice(15, 0, 'new')
  const same = (text: string) => ({ kind: 'same', text })
  expect(changedHunks(before.join('\n'), after.join('\n'), 1)).toEqual([
    {
      oldStart: 4,
      newStart: 4,
      lines: [
        same('4'),
        { kind: 'removed', text: '5' },
        { kind: 'added', text: 'five' },
        same('6'),
      ],
    },
    { oldStart: 15, newStart: 15, lines: [same('15'), { kind: 'added', text: 'new' }, same('16')] },
  ])
})

test('changes that are near each other stand together', () => {
  const [first, ...others] = changedHunks('a\nb\nc\nd', 'A\nb\nc\nD', 1)
  expect(others).toEqual([])
  expect(first?.lines).toHaveLength(6)
})

test.each([
  ['nothing', 'a\nb', 'a\nb', 0],
  ['a new text', '', 'a', 1],
])('%s', (_, before, after, count) => {
  expect(changedHunks(before, after)).toHaveLength(count)
})
