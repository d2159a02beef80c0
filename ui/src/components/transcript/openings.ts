import { defineStore } from 'pinia'
import { computed, shallowReactive, type WritableComputedRef } from 'vue'

import { useTranscriptContext } from './context'

/** What a reader opened or closed. A row forgets it when it is scrolled out of view; this does not. */
export const useOpenings = defineStore('openings', () => {
  const byKey = shallowReactive(new Map<string, boolean>())
  return { byKey }
})

/** Whether a part of a row is open. Until somebody touched it, it is as it is `initially`. */
export function useOpening(
  part: () => string,
  initially: () => boolean = () => false,
): WritableComputedRef<boolean> {
  const { sessionId } = useTranscriptContext()
  const { byKey } = useOpenings()
  const key = () => `${sessionId}/${part()}`
  return computed({
    get: () => byKey.get(key()) ?? initially(),
    set: (open) => byKey.set(key(), open),
  })
}
