import { onScopeDispose, ref, shallowRef, watch } from 'vue'

import { errorText } from '../../data/errors'
import { fetchHistory, type HistoryQuery } from '../../data/history'
import type { HistoryEntry } from '../../protocol.gen'

/** The entries that fit a query, page by page. What is there stays until something better comes. */
export function useHistory(query: () => HistoryQuery) {
  /** Null until the first answer. */
  const entries = shallowRef<readonly HistoryEntry[] | null>(null)
  const next = ref<number | null>(null)
  const loading = ref<'first' | 'more' | null>(null)
  const problem = ref<string | null>(null)
  let asking: AbortController | null = null

  async function read(before: number | null): Promise<void> {
    drop()
    const current = new AbortController()
    asking = current
    loading.value = before === null ? 'first' : 'more'
    problem.value = null
    try {
      const page = await fetchHistory(query(), before, current.signal)
      if (asking !== current) return
      const kept = before === null ? [] : (entries.value ?? [])
      entries.value = [...kept, ...page.entries]
      next.value = page.next
    } catch (error) {
      if (asking !== current) return
      problem.value = errorText(error)
      // Entries that do not fit what is asked for now must not look as if they did.
      if (before === null) entries.value = null
    } finally {
      if (asking === current) loading.value = null
    }
  }

  const load = (): Promise<void> => read(null)

  async function more(): Promise<void> {
    if (next.value !== null && loading.value === null) await read(next.value)
  }

  /** Whatever failed. */
  const retry = (): Promise<void> => (entries.value === null ? load() : more())

  function drop(): void {
    const unfinished = asking
    asking = null
    unfinished?.abort()
  }

  // By its text: the address changes for other reasons too.
  watch(() => JSON.stringify(query()), load, { immediate: true })
  onScopeDispose(drop)

  return { entries, next, loading, problem, load, more, retry }
}
