import { computed, ref, type WritableComputedRef } from 'vue'

import type { BroadRule } from './BroadConfirm.vue'

/** A yes to broad rules counts for exactly those that were shown. */
export function useBroadConfirmation(
  broad: () => readonly BroadRule[],
  confirmedBefore: readonly string[] = [],
): WritableComputedRef<boolean> {
  const confirmed = ref<ReadonlySet<string>>(new Set(confirmedBefore))
  return computed({
    get: () => broad().every(({ rule }) => confirmed.value.has(rule)),
    set: (yes) => {
      confirmed.value = new Set(yes ? broad().map(({ rule }) => rule) : [])
    },
  })
}
