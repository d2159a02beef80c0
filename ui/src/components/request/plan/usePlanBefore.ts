import { onBeforeUnmount, ref, type Ref } from 'vue'

import { fetchBaseline } from '../../../data/baselines'

/** The plan before this one, once it is there. Without it there is nothing to compare. */
export function usePlanBefore(requestId: string): Ref<string | null> {
  const before = ref<string | null>(null)
  const controller = new AbortController()
  onBeforeUnmount(() => controller.abort())
  fetchBaseline(requestId, controller.signal).then(
    (baseline) => (before.value = baseline.kind === 'plan' ? baseline.text : null),
    () => undefined,
  )
  return before
}
