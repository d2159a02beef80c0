import { mount } from '@vue/test-utils'
import { afterEach, expect, test, vi } from 'vitest'
import { defineComponent, h } from 'vue'

import { heightAboveKeyboard, useKeyboard } from './useKeyboard'

test.each([
  ['no keyboard', { windowHeight: 844, height: 844, scale: 1 }, null],
  ['the bar of the browser', { windowHeight: 844, height: 780, scale: 1 }, null],
  ['a keyboard', { windowHeight: 844, height: 508.4, scale: 1 }, 508],
  ['a keyboard on a small phone', { windowHeight: 568, height: 315, scale: 1 }, 315],
  ['zoomed in', { windowHeight: 844, height: 422, scale: 2 }, null],
])('%s', (_, view, expected) => {
  expect(heightAboveKeyboard(view)).toBe(expected)
})

const Page = defineComponent(() => {
  useKeyboard()
  return () => h('div', [h('textarea'), h('button')])
})

/** A keyboard that lies over the page, as Safari has it. */
class OverlaidView extends EventTarget {
  height = window.innerHeight
  scale = 1
}

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('the page ends where the keyboard begins, and brings its field there', async () => {
  const view = new OverlaidView()
  vi.stubGlobal('visualViewport', view)
  vi.stubGlobal('scrollTo', () => undefined)
  const page = mount(Page, { attachTo: document.body })
  const field = page.get('textarea').element
  const shown = vi.fn()
  field.scrollIntoView = shown
  const height = () => document.documentElement.style.getPropertyValue('--visible-height')
  field.focus()
  view.height = 400
  view.dispatchEvent(new Event('resize'))
  await vi.waitFor(() => expect(shown).toHaveBeenCalledOnce())
  expect(height()).toBe('400px')
  view.height = window.innerHeight
  view.dispatchEvent(new Event('resize'))
  expect(height()).toBe('')
  page.unmount()
})

test('nothing moves under a finger that goes from the field to a button', () => {
  vi.useFakeTimers()
  const page = mount(Page, { attachTo: document.body })
  const isWriting = () => document.documentElement.hasAttribute('data-writing')
  page.get('textarea').element.focus()
  expect(isWriting()).toBe(true)
  page.get('button').element.focus()
  expect(isWriting()).toBe(true)
  vi.advanceTimersByTime(500)
  expect(isWriting()).toBe(false)
  page.unmount()
})
