import { onScopeDispose, ref, shallowRef } from 'vue'

import { errorText } from '../../data/errors'
import { checkHistory } from '../../data/history'
import type { HistoryCheck } from '../../protocol.gen'

/** Whether the history still is what was written. Nobody is told before they asked. */
export function useHistoryCheck() {
  const result = shallowRef<HistoryCheck | null>(null)
  const problem = ref<string | null>(null)
  const isRunning = ref(false)
  let asking: AbortController | null = null

  async function run(): Promise<void> {
    close()
    const current = new AbortController()
    asking = current
    isRunning.value = true
    try {
      const found = await checkHistory(current.signal)
      if (asking === current) result.value = found
    } catch (error) {
      if (asking === current) problem.value = errorText(error)
    } finally {
      if (asking === current) isRunning.value = false
    }
  }

  function close(): void {
    const unfinished = asking
    asking = null
    unfinished?.abort()
    result.value = null
    problem.value = null
    isRunning.value = false
  }

  onScopeDispose(close)
  return { result, problem, isRunning, run, close }
}

export type HistoryChecking = ReturnType<typeof useHistoryCheck>
