import { mount } from '@vue/test-utils'
import { expect, test, vi } from 'vitest'

import { findEditor, installEditor, typeInto } from '../../testing/code'
import CodeEditor from './CodeEditor.vue'

installEditor()

async function open(text: string) {
  const wrapper = mount(CodeEditor, {
    props: { modelValue: text, label: 'Command', testid: 'editor', filename: 'command.sh' },
    attachTo: document.body,
  })
  return { wrapper, view: await findEditor(wrapper.element, 'editor') }
}

test('what is typed is the value, and no character of the rest is changed', async () => {
  const { wrapper, view } = await open('a\r\nb\u200b')
  view.dispatch({ changes: { from: 0, insert: 'x' } })
  expect(wrapper.emitted('update:modelValue')).toEqual([['xa\r\nb\u200b']])
  await wrapper.setProps({ modelValue: 'other' })
  expect(view.state.doc.toString()).toBe('other')
})

test('what cannot be seen is shown as chips', async () => {
  const { view } = await open(`a\r\nb\u202e${' '.repeat(20)}c`)
  expect(view.contentDOM.textContent).toBe('a⟨U+000D⟩b⟨U+202E⟩⟨20 spaces⟩c')
  typeInto(view, `a${'\n'.repeat(6)}b`)
  expect(view.contentDOM.textContent).toBe('a⟨5 blank lines⟩b')
})

test('its names stand where the text is', async () => {
  const { wrapper, view } = await open('a')
  await wrapper.setProps({ invalid: true })
  const { contentDOM } = view
  expect(contentDOM.getAttribute('aria-label')).toBe('Command')
  expect(contentDOM.getAttribute('aria-invalid')).toBe('true')
})

test('typing is nobody else’s key press, and Esc only leaves', async () => {
  const { wrapper, view } = await open('a')
  const heard = vi.fn()
  document.body.addEventListener('keydown', (event) => heard(event.key))
  wrapper.vm.focus()
  expect(document.activeElement).toBe(wrapper.element)
  for (const key of ['d', 'Escape', 'Tab']) {
    const options = { key, bubbles: true, composed: true, cancelable: true }
    view.contentDOM.dispatchEvent(new KeyboardEvent('keydown', options))
  }
  expect(heard.mock.calls).toEqual([['Tab']])
  expect(document.activeElement).toBe(document.body)
  expect(view.state.doc.toString()).toBe('a')
})
