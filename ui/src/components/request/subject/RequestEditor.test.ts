import { mount } from '@vue/test-utils'
import { beforeEach, expect, test } from 'vitest'

import type { PendingRequest } from '../../../protocol.gen'
import { findEditor, installEditor, typeInto } from '../../../testing/code'
import { makeRequest, startStores } from '../../../testing/fixtures'
import RequestEditor from './RequestEditor.vue'

beforeEach(() => {
  installEditor()
  startStores()
})

async function open(part: Partial<PendingRequest> = {}) {
  const props = { request: makeRequest(part), isRisky: false, disabled: false }
  const wrapper = mount(RequestEditor, { props, attachTo: document.body })
  return { wrapper, view: await findEditor(wrapper.element, 'edit-input') }
}

test('what stands in the field is what is allowed, and the change is shown', async () => {
  const { wrapper, view } = await open()
  expect(view.hasFocus).toBe(true)
  typeInto(view, 'ls -l')
  await wrapper.vm.$nextTick()
  expect(wrapper.find('[data-testid="edit-change"]').text()).toContain('added: ls -l')
  await wrapper.trigger('submit')
  expect(wrapper.emitted('confirm')).toEqual([[{ command: 'ls -l', description: 'List files' }]])
  wrapper.unmount()
})

test('what was typed is there again, until it is discarded', async () => {
  const first = await open()
  typeInto(first.view, 'ls -a')
  first.wrapper.unmount()
  const second = await open()
  expect(second.view.state.doc.toString()).toBe('ls -a')
  await second.wrapper.find('[data-testid="edit-cancel"]').trigger('click')
  expect(second.wrapper.emitted('cancel')).toHaveLength(1)
  second.wrapper.unmount()
  const third = await open()
  expect(third.view.state.doc.toString()).toBe('ls')
  third.wrapper.unmount()
})

test('nothing changed is a plain allow', async () => {
  const { wrapper } = await open()
  await wrapper.trigger('submit')
  expect([wrapper.emitted('unchanged'), wrapper.emitted('confirm')]).toEqual([[[]], undefined])
  wrapper.unmount()
})

test('JSON that is none is refused in words', async () => {
  const { wrapper, view } = await open({ tool_name: 'Odd', tool_input: { a: 1 } })
  typeInto(view, '{')
  await wrapper.trigger('submit')
  expect(wrapper.find('[role="alert"]').text()).toBe('This is not valid JSON.')
  expect(view.contentDOM.getAttribute('aria-invalid')).toBe('true')
  expect(wrapper.emitted('confirm')).toBeUndefined()
  wrapper.unmount()
})

test('each of several edits has a field below the text it replaces', async () => {
  const edits = [
    { old_string: 'one', new_string: 'eins' },
    { old_string: 'two', new_string: 'zwei' },
  ]
  const { wrapper } = await open({ tool_name: 'MultiEdit', tool_input: { edits } })
  typeInto(await findEditor(wrapper.element, 'edit-input-2'), 'deux')
  expect(wrapper.text()).toContain('one')
  await wrapper.trigger('submit')
  const [first] = edits
  expect(wrapper.emitted('confirm')).toEqual([
    [{ edits: [first, { old_string: 'two', new_string: 'deux' }] }],
  ])
  wrapper.unmount()
})
