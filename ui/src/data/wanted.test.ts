import { beforeEach, expect, test } from 'vitest'

import { rememberWanted, takeWanted } from './wanted'

const PATH = '/sessions/a?request=b'
const MINUTE = 60_000

beforeEach(() => localStorage.clear())

test('what was wanted is gone to once', () => {
  rememberWanted(PATH, 0)
  expect([takeWanted(MINUTE), takeWanted(MINUTE)]).toEqual([PATH, null])
})

test('the start page does not replace what was wanted before', () => {
  rememberWanted(PATH, 0)
  rememberWanted('/', 0)
  expect(takeWanted(MINUTE)).toBe(PATH)
})

test('after the time of a link nothing is wanted any more', () => {
  rememberWanted(PATH, 0)
  expect(takeWanted(15 * MINUTE)).toBeNull()
})

test.each([
  '"/a"',
  '{"path":"//evil.example/","at":0}',
  '{"path":"https://evil.example","at":0}',
  '{"path":"/a"}',
  'x',
])('something else in the storage: %s', (text) => {
  localStorage.setItem('sayso.wanted', text)
  expect([takeWanted(0), localStorage.getItem('sayso.wanted')]).toEqual([null, null])
})
