import { ref, type Ref } from 'vue'

import { useToasts } from '../../data/toasts'

/** How long it shows that something was copied. */
const DONE_FOR = 1500

/** Copies a text, and says for a moment that it did. */
export function useCopy(text: () => string): { done: Ref<boolean>; copy: () => Promise<void> } {
  const toasts = useToasts()
  const done = ref(false)

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text())
      done.value = true
      setTimeout(() => (done.value = false), DONE_FOR)
    } catch {
      toasts.show('The browser did not let Sayso copy. Select the text and copy it by hand.')
    }
  }

  return { done, copy }
}
