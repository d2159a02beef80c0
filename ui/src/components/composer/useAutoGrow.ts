import { onMounted, watch, type ShallowRef } from 'vue'

/** Makes a field as tall as its text, where `field-sizing: content` does not do it. */
export function useAutoGrow(
  field: Readonly<ShallowRef<HTMLTextAreaElement | null>>,
  text: () => string,
): void {
  if (globalThis.CSS?.supports?.('field-sizing', 'content')) return

  function fit(): void {
    if (field.value === null) return
    field.value.style.height = 'auto'
    field.value.style.height = `${field.value.scrollHeight}px`
  }

  onMounted(fit)
  watch(text, fit, { flush: 'post' })
}
