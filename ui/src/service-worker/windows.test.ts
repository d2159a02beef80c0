import { expect, test } from 'vitest'

import { requestTag } from './tags'
import { bestWindow, type Candidate } from './windows'

const tab = (path: string, visibilityState: DocumentVisibilityState = 'hidden'): Candidate => ({
  url: `https://sayso.test${path}`,
  visibilityState,
})

test('a notification opens where it is shown already, or in view, or where somebody was last', () => {
  const [last, shown, inView] = [tab('/'), tab('/sessions/1'), tab('/history', 'visible')]
  const best = (...tabs: Candidate[]) => bestWindow(tabs, '/sessions/1?request=2')
  expect(best(last, inView, shown)).toBe(shown)
  expect(best(last, inView)).toBe(inView)
  expect(best(last)).toBe(last)
  expect(best()).toBeNull()
})

test('a tab knows a request by the tag that the server gives it', () => {
  const id = '01a1e665-ec5d-74e4-9a07-3b5ca1689f38'
  expect(requestTag(id)).toBe('r1a1e665ec5d74e49a073b5ca1689f38')
})
