import { afterEach, expect, test } from 'vitest'

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
