import { nextTick, onBeforeUnmount, ref, watch, type Ref } from 'vue'

/** Nearer to the end than this counts as being at the end. */
const NEAR = 48

/**
 * Keeps a scrolling element at its end while new content arrives, unless the
 * reader has scrolled up; then it only tells that there is more.
 */
export function useFollow(element: Ref<HTMLElement | null>, changed: () => unknown) {
  const following = ref(true)
  const hasMore = ref(false)
  const observer = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(resized)
  let height = 0

  function resized(): void {
    height = element.value?.clientHeight ?? 0
    if (following.value) jump()
  }

  function scrolled(): void {
    const box = element.value
    if (box === null) return
    // A card that comes or goes changes the height and scrolls along; the reader did nothing.
    if (box.clientHeight !== height) return resized()
    following.value = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR
    if (following.value) hasMore.value = false
  }

  function jump(): void {
    const box = element.value
    if (box === null) return
    box.scrollTop = box.scrollHeight
    following.value = true
    hasMore.value = false
  }

  watch(element, (box, before) => {
    if (before) observer?.disconnect()
    if (box === null) return
    observer?.observe(box)
    jump()
  })

  watch(changed, () => {
    if (following.value) void nextTick(jump)
    else hasMore.value = true
  })

  onBeforeUnmount(() => observer?.disconnect())

  return { hasMore, scrolled, jump }
}
