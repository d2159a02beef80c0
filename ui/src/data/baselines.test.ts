import { flushPromises } from '@vue/test-utils'
import { afterEach, expect, test, vi } from 'vitest'
import { effectScope } from 'vue'

import type { FileNow } from '../protocol.gen'
import { answerFetch } from '../testing/browser'
import { useFileBaseline } from './baselines'

const scope = effectScope()
afterEach(() => {
  vi.unstubAllGlobals()
})

function fileOf(text: string): FileNow & { kind: 'file' } {
  const size = text.length
  return { kind: 'file', path: '/a', resolved_path: null, state: 'text', size, text, problem: null }
}

test('the file is read at once, again when somebody comes back, and again when asked', async () => {
  let count = 0
  answerFetch(({ pathname }) => {
    expect(pathname).toBe('/api/requests/r1/baseline')
    return fileOf(`text ${++count}`)
  })
  const baseline = scope.run(() => useFileBaseline(() => 'r1'))
  expect([baseline?.state.value, baseline?.isReading.value]).toEqual(['reading', true])
  await flushPromises()
  expect([baseline?.state.value, baseline?.file.value?.text]).toEqual(['text', 'text 1'])
  expect(baseline?.readAt.value).toBeInstanceOf(Date)

  document.dispatchEvent(new Event('visibilitychange'))
  await flushPromises()
  expect(baseline?.file.value?.text).toBe('text 2')

  await baseline?.read()
  expect([baseline?.file.value?.text, baseline?.isReading.value]).toEqual(['text 3', false])
})

test('a failure says why, and what was read before stays', async () => {
  let answer: unknown = undefined
  answerFetch(() => answer)
  const baseline = scope.run(() => useFileBaseline(() => 'r2'))
  await flushPromises()
  expect(baseline?.state.value).toBe('failed')
  expect(baseline?.problem.value).toBe('There is nothing at this address.')

  answer = fileOf('back')
  await baseline?.read()
  expect([baseline?.state.value, baseline?.problem.value]).toEqual(['text', null])

  answer = { kind: 'none' }
  await baseline?.read()
  expect(baseline?.file.value?.text).toBe('back')
  expect(baseline?.problem.value).toBe('Sayso finds no file in this request.')
})
