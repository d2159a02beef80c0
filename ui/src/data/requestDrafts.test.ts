import { beforeEach, expect, test } from 'vitest'
import { effectScope } from 'vue'

import { forgetDrafts, forgetDraftsExcept, useRequestDraft } from './requestDrafts'
import { isString } from './storage'

beforeEach(() => localStorage.clear())

function draftOf(requestId: string, part = 'reason') {
  return effectScope().run(() => useRequestDraft(requestId, part, '', isString))!
}

test('a draft is there again after a reload', () => {
  draftOf('one').value = 'because'
  expect(draftOf('one').value).toBe('because')
  expect(draftOf('two').value).toBe('')
})

test('a list that is changed in place is kept too', () => {
  const isList = (value: unknown): value is string[] => Array.isArray(value)
  const list = () => effectScope().run(() => useRequestDraft('one', 'list', ['a'], isList))!
  list().value[0] = 'b'
  expect(list().value).toEqual(['b'])
})

test('another tab writes, this one follows', () => {
  const draft = draftOf('one')
  localStorage.setItem('sayso.request.one.reason', '"from the other tab"')
  window.dispatchEvent(
    new StorageEvent('storage', {
      key: 'sayso.request.one.reason',
      storageArea: localStorage,
    }),
  )
  expect(draft.value).toBe('from the other tab')
})

test('a draft like the beginning is no draft', () => {
  const draft = draftOf('one')
  draft.value = 'x'
  draft.value = ''
  expect(localStorage.length).toBe(0)
})

test('closed requests leave nothing behind, whichever way they were closed', () => {
  draftOf('one').value = 'a'
  draftOf('one', 'edit').value = 'b'
  draftOf('two').value = 'c'
  draftOf('three').value = 'd'
  forgetDrafts('one')
  forgetDraftsExcept(new Set(['three']))
  expect(Object.keys(localStorage)).toEqual(['sayso.request.three.reason'])
})

test('something else under the name of a draft is not taken for one', () => {
  localStorage.setItem('sayso.request.one.reason', '{"not": "text"}')
  expect(draftOf('one').value).toBe('')
})
