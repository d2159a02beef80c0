import { afterEach, expect, test, vi } from 'vitest'

import { takeDecision } from './oneDecision'

function key(type: 'keydown' | 'keyup', code: string): void {
  window.dispatchEvent(new KeyboardEvent(type, { code }))
}

afterEach(() => window.dispatchEvent(new Event('blur')))

test('a key that stays down decides once', () => {
  key('keydown', 'Enter')
  expect(takeDecision()).toBe(true)
  key('keydown', 'Enter')
  expect(takeDecision()).toBe(false)
  key('keyup', 'Enter')
  expect(takeDecision()).toBe(true)
})

test('another key does not help while the first is down', () => {
  key('keydown', 'KeyA')
  expect(takeDecision()).toBe(true)
  key('keydown', 'Enter')
  expect(takeDecision()).toBe(false)
  key('keyup', 'Enter')
  expect(takeDecision()).toBe(false)
  key('keyup', 'KeyA')
  expect(takeDecision()).toBe(true)
})

test('a pointer is not slowed down', () => {
  expect(takeDecision()).toBe(true)
  expect(takeDecision()).toBe(true)
})

test.each([
  ['a frame of this page', true, true],
  ['another window', false, false],
])('the first moment after %s had the focus', (_, hasFocus, decides) => {
  vi.useFakeTimers({ toFake: ['performance'] })
  vi.spyOn(document, 'hasFocus').mockReturnValue(hasFocus)
  window.dispatchEvent(new Event('blur'))
  window.dispatchEvent(new Event('focus'))
  expect(takeDecision()).toBe(decides)
  vi.advanceTimersByTime(500)
  expect(takeDecision()).toBe(true)
  vi.useRealTimers()
})
