import { onScopeDispose, shallowRef, watch, type Ref, type ShallowRef } from 'vue'

import { completeFolder } from '../../data/folders'
import { useMe } from '../../data/me'
import type { FolderMatches } from '../../protocol.gen'

const PAUSE = 120

export interface KnownFolders extends FolderMatches {
  /** What had been typed when the server was asked. */
  typed: string
}

/** What the server knows about the path in a field, a moment after it stops changing. */
export function useFolderMatches(path: Ref<string>): ShallowRef<KnownFolders | null> {
  const known = shallowRef<KnownFolders | null>(null)
  const me = useMe()
  let timer: ReturnType<typeof setTimeout> | undefined
  let running = new AbortController()

  async function look(typed: string): Promise<void> {
    const { signal } = (running = new AbortController())
    try {
      const matches = await completeFolder(typed, signal)
      if (!signal.aborted) known.value = { ...matches, typed }
    } catch {
      // Completing is a convenience; starting says what is wrong with a folder.
      if (!signal.aborted) known.value = null
    }
  }

  function cancel(): void {
    clearTimeout(timer)
    running.abort()
  }

  watch(
    path,
    (now) => {
      cancel()
      const typed = now.trim()
      if (typed === '' || !me.may('approve')) known.value = null
      else timer = setTimeout(() => void look(typed), PAUSE)
    },
    { immediate: true },
  )
  onScopeDispose(cancel)
  return known
}
