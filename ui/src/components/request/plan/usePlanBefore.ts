import { onBeforeUnmount, ref, type Ref } from 'vue'

import { planBefore } from '../../../data/plans'

/** The plan before this one, once it is there. Without it there is nothing to compare. */
export function usePlanBefore(requestId: string): Ref<string | null> {
  const before = ref<string | null>(null)
  const controller = new AbortController()
  onBeforeUnmount(() => controller.abort())
  planBefore(requestId, controller.signal).then(
    (text) => (before.value = text),
    () => undefined,
  )
  return before
}
