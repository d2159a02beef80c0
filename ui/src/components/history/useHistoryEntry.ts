import { onScopeDispose, ref, shallowRef, watch } from 'vue'

import { errorText } from '../../data/errors'
import { fetchHistoryEntry } from '../../data/history'
import type { HistoryDetail } from '../../protocol.gen'

/** One entry, whole. The one before stays in view until the next has come. */
export function useHistoryEntry(seq: () => number) {
  const detail = shallowRef<HistoryDetail | null>(null)
  const problem = ref<string | null>(null)
  const isLoading = ref(false)
  let asking: AbortController | null = null

  async function load(): Promise<void> {
    drop()
    const current = new AbortController()
    asking = current
    isLoading.value = true
    problem.value = null
    try {
      const found = await fetchHistoryEntry(seq(), current.signal)
      if (asking === current) detail.value = found
    } catch (error) {
      if (asking !== current) return
      problem.value = errorText(error)
      detail.value = null
    } finally {
      if (asking === current) isLoading.value = false
    }
  }

  function drop(): void {
    const unfinished = asking
    asking = null
    unfinished?.abort()
  }

  watch(seq, load, { immediate: true })
  onScopeDispose(drop)
  return { detail, problem, isLoading, load }
}
