import { computed, ref, type ComputedRef } from 'vue'

import { RefusedError } from '../connection/errors'
import { useClock } from './clock'

export interface Attempts {
  /** Seconds until the next try counts; 0 when it does now. */
  wait: ComputedRef<number>
  /** Takes note of a failure; true when it was one try too many. */
  failed: (error: unknown) => boolean
}

/** Tries with a secret: too many wrong ones, and the next has to wait. */
export function useAttempts(): Attempts {
  const clock = useClock()
  const nextAt = ref(0)
  const wait = computed(() => Math.max(0, Math.ceil((nextAt.value - clock.now) / 1000)))

  function failed(error: unknown): boolean {
    if (!(error instanceof RefusedError) || error.code !== 'too_many_attempts') return false
    nextAt.value = clock.now + (error.retryAfterSeconds ?? 1) * 1000
    return true
  }

  return { wait, failed }
}
