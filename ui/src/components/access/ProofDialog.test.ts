import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { useClock } from '../../data/clock'
import { useMe } from '../../data/me'
import { useProof } from '../../data/proof'
import { installBrowser } from '../../testing/browser'
import { answerCalls, type Answers } from '../../testing/devices'
import { startStores } from '../../testing/fixtures'
import ProofDialog from './ProofDialog.vue'

installBrowser()
const PROVEN = { proven_until: '2026-01-02T04:05:00Z' }
const WRONG = { code: 'unauthorized', message: 'That is not the password.' }
let dialog: VueWrapper
let given: Promise<boolean>

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-01-02T04:00:00Z') })
  startStores()
  useClock().start()
})
afterEach(() => {
  dialog.unmount()
  vi.useRealTimers()
})

function show(prove: Answers[string]) {
  const sent = answerCalls({ 'POST /api/prove': prove })
  given = useProof().ask()
  dialog = mount(ProofDialog, { attachTo: document.body })
  return sent
}

const part = (id: string) => dialog.find<HTMLInputElement>(`[data-testid="${id}"]`)

async function type(password: string): Promise<void> {
  await part('proof-password').setValue(password)
  await part('proof').trigger('submit')
  await flushPromises()
}

test('the right password ends the question', async () => {
  const sent = show([[200, PROVEN]])
  expect(part('proof-confirm').attributes('disabled')).toBeDefined()
  await type('correct horse')
  expect(await given).toBe(true)
  expect(sent.map(({ body }) => body)).toEqual([{ password: 'correct horse' }])
  expect(useMe().me?.proven_until).toBe(PROVEN.proven_until)
})

test('a wrong one is said in place, and the next try counts', async () => {
  show([
    [401, WRONG],
    [200, PROVEN],
  ])
  await type('wrong')
  expect(dialog.find('[role="alert"]').text()).toBe('That is not the password.')
  expect(part('proof-password').attributes('aria-invalid')).toBe('true')
  expect(useProof().isAsked).toBe(true)
  await type('right')
  expect(await given).toBe(true)
})

test('after too many it counts down, and nothing is sent before', async () => {
  const tooMany = { code: 'too_many_attempts', message: 'Too many.', retry_after_seconds: 30 }
  const sent = show([
    [429, tooMany],
    [200, PROVEN],
  ])
  await type('wrong')
  expect(dialog.find('[role="alert"]').text()).toContain('counts in 0:30')
  await type('right')
  expect(sent).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(30_500)
  await type('right')
  expect(await given).toBe(true)
})

test('whoever cancels gives nothing', async () => {
  const sent = show([[200, PROVEN]])
  await part('proof-password').setValue('half')
  await part('proof-cancel').trigger('click')
  expect([await given, sent]).toEqual([false, []])
})
