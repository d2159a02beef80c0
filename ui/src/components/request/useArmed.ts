import { onActivated, onBeforeUnmount, onDeactivated, ref, type Ref } from 'vue'

/** Longer than a double click, and than a finger on its way down. */
const DELAY = 500

/**
 * False for the first moment after a card appears: a click meant for what stood
 * in its place (the send button, the card before it) must not decide it.
 */
export function useArmed(): Ref<boolean> {
  const armed = ref(false)
  let timer: ReturnType<typeof setTimeout>

  function arm(): void {
    clearTimeout(timer)
    armed.value = false
    timer = setTimeout(() => (armed.value = true), DELAY)
  }

  arm()
  onActivated(arm)
  onDeactivated(() => clearTimeout(timer))
  onBeforeUnmount(() => clearTimeout(timer))
  return armed
}
