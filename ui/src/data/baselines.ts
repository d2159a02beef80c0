import { computed, onScopeDispose, ref, shallowRef, watch, type ComputedRef, type Ref } from 'vue'

import { getJson } from '../connection/rest'
import type { Baseline, FileNow, FileState } from '../protocol.gen'
import { errorText } from './errors'

/** What a request is measured against: the file as it is now, or the plan before. */
export function fetchBaseline(requestId: string, signal?: AbortSignal): Promise<Baseline> {
  return getJson(`/api/requests/${encodeURIComponent(requestId)}/baseline`, {}, signal)
}

/** The file that a request would change, as it was when it was last read. */
export interface FileBaseline {
  file: Ref<FileNow | null>
  state: ComputedRef<FileState | 'reading' | 'failed'>
  readAt: Ref<Date | null>
  /** Why the last reading failed. The file of the one before stays. */
  problem: Ref<string | null>
  isReading: Ref<boolean>
  read: () => Promise<void>
}

/** A decision waits for the file; it should not wait for ever. */
const LONGEST = 10_000

/**
 * Reads the file when it is first shown, and again whenever somebody comes back
 * to the tab: others work on the same files meanwhile.
 */
export function useFileBaseline(requestId: () => string): FileBaseline {
  const file = shallowRef<FileNow | null>(null)
  const readAt = ref<Date | null>(null)
  const problem = ref<string | null>(null)
  const isReading = ref(false)
  let reading: AbortController | null = null

  const state = computed(() => {
    if (file.value !== null) return file.value.state
    return problem.value === null ? 'reading' : 'failed'
  })

  async function read(): Promise<void> {
    reading?.abort()
    const current = new AbortController()
    reading = current
    isReading.value = true
    const timer = setTimeout(() => current.abort(new Error('It took too long.')), LONGEST)
    try {
      const baseline = await fetchBaseline(requestId(), current.signal)
      if (reading !== current) return
      if (baseline.kind !== 'file') throw new Error('Sayso finds no file in this request.')
      file.value = baseline
      readAt.value = new Date()
      problem.value = null
    } catch (error) {
      if (reading === current) problem.value = errorText(error)
    } finally {
      clearTimeout(timer)
      if (reading === current) isReading.value = false
    }
  }

  function cameBack(): void {
    if (document.visibilityState === 'visible') void read()
  }

  watch(
    requestId,
    () => {
      file.value = null
      problem.value = null
      void read()
    },
    { immediate: true },
  )
  document.addEventListener('visibilitychange', cameBack)
  onScopeDispose(() => {
    document.removeEventListener('visibilitychange', cameBack)
    const unfinished = reading
    reading = null
    unfinished?.abort()
  })
  return { file, state, readAt, problem, isReading, read }
}
