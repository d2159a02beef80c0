import { mount } from '@vue/test-utils'
import { expect, test } from 'vitest'
import { defineComponent, h } from 'vue'

import { findEditor, installEditor } from '../../testing/code'
import { LazyCodeDiff, LazyCodeEditor } from '.'
import { lazily } from './lazily'

installEditor()

test('loads once for everybody', async () => {
  const part = defineComponent(() => () => h('p'))
  let count = 0
  const lazy = lazily(async () => ({ default: (count++, part) }))
  expect(lazy.component.value).toBeNull()
  await Promise.all([lazy.load(), lazy.load()])
  expect([count, lazy.component.value === part, lazy.hasFailed.value]).toEqual([1, true, false])
})

test('says that it failed', async () => {
  const lazy = lazily(() => Promise.reject(new Error('gone')))
  await lazy.load()
  expect([lazy.component.value, lazy.hasFailed.value]).toEqual([null, true])
})

test('until they are loaded, the editor’s text and the changed lines are already there', async () => {
  const field = { label: 'Command', testid: 'field' }
  const editor = mount(LazyCodeEditor, {
    props: { ...field, modelValue: 'ls' },
    attachTo: document.body,
  })
  const change = { before: 'a', after: 'b', filename: 'a.txt', label: 'Change', testid: 'diff' }
  const diff = mount(LazyCodeDiff, { props: change })
  expect(editor.text()).toBe('ls')
  expect(diff.find('[data-testid="diff"]').text()).toContain('added: b')

  editor.vm.focus()
  const view = await findEditor(document.body, 'field')
  expect(view.hasFocus).toBe(true)
})
