import { mount } from '@vue/test-utils'
import { expect, test, vi } from 'vitest'

import CodeText from './CodeText.vue'

test('a command in its parts reads as it is, and has its colours when they are loaded', async () => {
  const text = 'if true; then\u200b echo "a"; fi'
  const view = mount(CodeText, { props: { text, language: 'bash', breaks: [8] } })
  const shown = text.replace('\u200b', '⟨U+200B⟩')
  expect(view.element.textContent).toBe(shown)
  expect(view.findAll('.row').map((row) => row.element.textContent)).toEqual([
    'if true;',
    ' then⟨U+200B⟩ echo "a"; fi',
  ])
  await vi.waitFor(() => expect(view.find('.hljs-keyword').text()).toBe('if'))
  expect(view.element.textContent).toBe(shown)
})

test('what is copied by hand is the text itself', () => {
  const text = `a && b\u202e${' '.repeat(20)}c`
  const view = mount(CodeText, { props: { text, breaks: [5] }, attachTo: document.body })
  const range = document.createRange()
  range.selectNodeContents(view.element)
  window.getSelection()?.addRange(range)
  const setData = vi.fn()
  const event = Object.assign(new Event('copy'), { clipboardData: { setData } })
  view.element.dispatchEvent(event)
  expect(setData).toHaveBeenCalledWith('text/plain', text)
  view.unmount()
})
