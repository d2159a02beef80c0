import { onActivated, onBeforeUnmount, onDeactivated, ref, watch, type Ref } from 'vue'

/** Longer than a double click, and than a finger on its way down. */
const DELAY = 500

/**
 * False for the first moment after a card appears: a click meant for what stood
 * in its place (the send button, the card before it) must not decide it. The
 * same after each change of `place`, for what can be pushed under a pointer.
 */
export function useArmed(place?: () => unknown): Ref<boolean> {
  const armed = ref(false)
  let timer: ReturnType<typeof setTimeout>

  function arm(): void {
    clearTimeout(timer)
    armed.value = false
    timer = setTimeout(() => (armed.value = true), DELAY)
  }

  arm()
  if (place !== undefined) watch(place, arm, { flush: 'sync' })
  onActivated(arm)
  onDeactivated(() => clearTimeout(timer))
  onBeforeUnmount(() => clearTimeout(timer))
  return armed
}
