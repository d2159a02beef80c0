import { defineStore } from 'pinia'
import { shallowRef } from 'vue'

import { errorText } from './errors'

export interface Toast {
  id: number
  text: string
}

const SHOWN_FOR = 8000

/** Errors that belong to nothing on the screen. */
export const useToasts = defineStore('toasts', () => {
  const toasts = shallowRef<readonly Toast[]>([])
  let nextId = 1

  function show(text: string): void {
    const toast = { id: nextId++, text }
    toasts.value = [...toasts.value.slice(-2), toast]
    setTimeout(() => dismiss(toast.id), SHOWN_FOR)
  }

  function dismiss(id: number): void {
    toasts.value = toasts.value.filter((toast) => toast.id !== id)
  }

  /** Waits for `work` and shows its failure, if any. */
  async function guard(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (error) {
      show(errorText(error))
    }
  }

  return { toasts, show, dismiss, guard }
})
