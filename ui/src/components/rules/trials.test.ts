import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { effectScope, ref, type EffectScope } from 'vue'

import type { TriedRule } from '../../protocol.gen'
import { answerRules, makeTried } from '../../testing/rules'
import { combine } from './trials'
import { useTrials } from './useTrials'

const call = (subject: string) => ({ tool_name: 'Bash', subject })

test('any of the rules makes a match, and only what none matches does not match', () => {
  const one = makeTried({ would_match: [call('a')], would_not_match: [call('b'), call('c')] })
  const other = makeTried({
    would_match: [call('b'), call('a')],
    would_not_match: [call('c')],
    covers: ['x'],
  })
  expect(combine([one, { ...other }])).toEqual({
    matching: [call('a'), call('b')],
    others: [call('c')],
    covers: ['x'],
  })
})

let scope: EffectScope
beforeEach(() => {
  vi.useFakeTimers()
  scope = effectScope()
})
afterEach(() => {
  scope.stop()
  vi.useRealTimers()
})

/** Tries the text of the returned ref while it changes. */
function tryText(text: string) {
  const rule = ref(text)
  const trials = scope.run(() =>
    useTrials(() => [
      { rule: rule.value, effect: 'allow', scope: { kind: 'everywhere' }, session_id: null },
    ]),
  )
  if (trials === undefined) throw new Error('The scope has ended.')
  return { rule, trials }
}

test('the server is asked when nobody has typed for a moment', async () => {
  const posted = answerRules({ tried: () => makeTried({ problem: 'no' }) })
  const { rule, trials } = tryText('Ba')
  await vi.advanceTimersByTimeAsync(200)
  rule.value = 'Bash'
  await vi.advanceTimersByTimeAsync(249)
  expect(posted).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  await flushPromises()
  expect(posted.map((body) => body.rule)).toEqual(['Bash'])
  expect([trials.isCurrent.value, trials.answers.value.get('Bash')?.problem]).toEqual([true, 'no'])
  rule.value = 'Bashful'
  expect(trials.isCurrent.value).toBe(false)
})

test('an answer that comes too late is ignored', async () => {
  const answers: ((tried: TriedRule) => void)[] = []
  answerRules({ tried: () => new Promise((resolve) => answers.push(resolve)) })
  const { rule, trials } = tryText('Bash')
  await vi.advanceTimersByTimeAsync(250)
  rule.value = 'Read'
  await vi.advanceTimersByTimeAsync(250)
  answers[1]?.(makeTried({ problem: 'new' }))
  answers[0]?.(makeTried({ problem: 'old' }))
  await flushPromises()
  expect([...trials.answers.value]).toEqual([['Read', makeTried({ problem: 'new' })]])
})

test('a failure is told for as long as the rule stands as it is', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new Error('offline')))
  const { rule, trials } = tryText('Bash')
  await vi.advanceTimersByTimeAsync(250)
  await flushPromises()
  expect([trials.failure.value, trials.isCurrent.value]).toEqual(['offline', false])
  rule.value = 'Read'
  expect(trials.failure.value).toBeNull()
})
