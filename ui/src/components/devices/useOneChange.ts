import { ref, type Ref } from 'vue'

import { errorText } from '../../data/errors'

export interface OneChange {
  isSending: Ref<boolean>
  problem: Ref<string | null>
  /** True when it was carried out. */
  send: (work: () => Promise<unknown>) => Promise<boolean>
}

/** One change at a time, and in place what was wrong with it. */
export function useOneChange(): OneChange {
  const isSending = ref(false)
  const problem = ref<string | null>(null)

  async function send(work: () => Promise<unknown>): Promise<boolean> {
    if (isSending.value) return false
    isSending.value = true
    problem.value = null
    try {
      await work()
      return true
    } catch (error) {
      problem.value = errorText(error)
      return false
    } finally {
      isSending.value = false
    }
  }

  return { isSending, problem, send }
}
