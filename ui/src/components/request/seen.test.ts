import { expect, test } from 'vitest'

import { addStretch, firstUnseen, unseenHeight, type Stretch } from './seen'

function lookAt(...stretches: Stretch[]): Stretch[] {
  return stretches.reduce<Stretch[]>((seen, stretch) => addStretch(seen, stretch), [])
}

test('what fits is seen at once', () => {
  expect(firstUnseen(lookAt([0, 300]), 300)).toBeNull()
})

test('scrolling through it sees it, in any order', () => {
  expect(firstUnseen(lookAt([0, 300], [280, 580], [580, 900]), 900)).toBeNull()
  expect(firstUnseen(lookAt([600, 900], [0, 300], [250, 650]), 900)).toBeNull()
})

test('jumping to the end does not', () => {
  const seen = lookAt([0, 300], [700, 1000])
  expect(firstUnseen(seen, 1000)).toEqual([300, 700])
  expect(unseenHeight(seen, 1000)).toBe(400)
})

test('the end counts', () => {
  expect(firstUnseen(lookAt([0, 300]), 900)).toEqual([300, 900])
  expect(firstUnseen([], 900)).toEqual([0, 900])
})

test('a stretch that bridges two makes them one', () => {
  expect(lookAt([0, 100], [200, 300], [90, 210])).toEqual([[0, 300]])
})

test('rounding leaves nothing unseen', () => {
  expect(firstUnseen(lookAt([0, 299.5]), 300)).toBeNull()
})
