import { nextTick, onBeforeUnmount, ref, watch, type Ref } from 'vue'

/** Nearer to the end than this counts as being at the end. */
const NEAR = 48

/**
 * Keeps a scrolling element at its end while its content grows, unless the
 * reader has scrolled up.
 */
export function useFollow(element: Ref<HTMLElement | null>) {
  const following = ref(true)
  const observer = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(grown)
  let lastTop = 0

  /** To be called when the content or the element may have another height. */
  function grown(): void {
    if (following.value) toEnd()
  }

  function scrolled(): void {
    const box = element.value
    if (box === null) return
    const isUp = box.scrollTop < lastTop
    lastTop = box.scrollTop
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR
    // Content that grows moves the end away; only the reader moves up from it.
    if (isAtEnd) following.value = true
    else if (isUp) following.value = false
  }

  function toEnd(): void {
    const box = element.value
    if (box === null) return
    box.scrollTop = box.scrollHeight
    lastTop = box.scrollTop
  }

  function jump(): void {
    following.value = true
    toEnd()
    // What comes into view is measured only then, and may be higher than it was thought to be.
    void nextTick(grown)
  }

  /** Stays where it is, until the reader is at the end again. */
  function leave(): void {
    following.value = false
  }

  watch(element, (box, before) => {
    if (before) observer?.disconnect()
    if (box === null) return
    observer?.observe(box)
    toEnd()
  })

  onBeforeUnmount(() => observer?.disconnect())

  return { following, scrolled, grown, jump, leave }
}
