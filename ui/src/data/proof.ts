import { defineStore } from 'pinia'
import { ref } from 'vue'

/** The one question for the password that is on the screen, if any. */
export const useProof = defineStore('proof', () => {
  const isAsked = ref(false)
  let asked: Promise<boolean> | null = null
  let settle: ((given: boolean) => void) | null = null

  /** Several that want it at once share one question. */
  function ask(): Promise<boolean> {
    isAsked.value = true
    asked ??= new Promise((resolve) => (settle = resolve))
    return asked
  }

  function end(given: boolean): void {
    isAsked.value = false
    settle?.(given)
    settle = null
    asked = null
  }

  return { isAsked, ask, end }
})
