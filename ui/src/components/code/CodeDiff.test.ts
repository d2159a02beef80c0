import { mount } from '@vue/test-utils'
import { expect, test, vi } from 'vitest'

import { installEditor } from '../../testing/code'
import CodeDiff from './CodeDiff.vue'

installEditor()

const LINES = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`)

function show(before: string, after: string) {
  const props = { before, after, filename: 'a.txt', label: 'Change', testid: 'diff' }
  const wrapper = mount(CodeDiff, { props, attachTo: document.body })
  const host = wrapper.element as HTMLElement
  const content = () => host.shadowRoot?.querySelector<HTMLElement>('.cm-content')
  const texts = (selector: string) =>
    [...(content()?.querySelectorAll(selector) ?? [])].map((element) => element.textContent)
  return { wrapper, content, texts }
}

test('shows what goes, what comes and how much stays', async () => {
  const after = LINES.with(19, 'twenty')
  const { content, texts } = show(LINES.join('\n'), after.join('\n'))
  expect(texts('.cm-deletedLine')).toEqual(['line 20'])
  expect(texts('.cm-changedLine')).toEqual(['twenty'])
  expect(texts('.cm-collapsedLines')).toEqual(['16 unchanged lines', '17 unchanged lines'])
  expect(content()?.getAttribute('contenteditable')).toBe('false')
  expect(texts('button')).toEqual([])
})

test('collapsed lines open with the keyboard', async () => {
  const { content, texts } = show(LINES.join('\n'), [...LINES, 'more'].join('\n'))
  await vi.waitFor(() => expect(content()?.querySelector('[role="button"]')).not.toBeNull())
  const collapsed = content()?.querySelector('[role="button"]')
  collapsed?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }))
  expect(texts('.cm-collapsedLines')).toEqual([])
})

test('what cannot be seen is shown, removed and added', async () => {
  const { texts } = show(`a\u200b${' '.repeat(20)}b\r`, 'a\u202eb')
  await vi.waitFor(() =>
    expect(texts('.cm-deletedLine')).toEqual(['a⟨U+200B⟩⟨20 spaces⟩b⟨U+000D⟩']),
  )
  expect(texts('.cm-changedLine')).toEqual(['a⟨U+202E⟩b'])
})

test('a file that was read again is compared again', async () => {
  const { wrapper, texts } = show('a', 'b')
  await wrapper.setProps({ before: 'c' })
  expect(texts('.cm-deletedLine')).toEqual(['c'])
})
