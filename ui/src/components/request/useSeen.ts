import { onBeforeUnmount, onMounted, ref, type Ref } from 'vue'

import { useRequests } from '../../data/requests'
import { addStretch, firstUnseen, unseenHeight, type Stretch } from './seen'

export interface Seen {
  /** How many screens of the input have not been in view; 0 when all of it has. */
  screensLeft: Readonly<Ref<number>>
  /** Shows the next part that has not been in view. */
  showNext: () => void
}

/**
 * Nobody allows what they cannot have read: watches which parts of a card have
 * been in view. `body` scrolls, `content` is all that is in it.
 */
export function useSeen(
  requestId: string,
  body: Readonly<Ref<HTMLElement | null>>,
  content: Readonly<Ref<HTMLElement | null>>,
): Seen {
  const requests = useRequests()
  const screensLeft = ref(0)
  let seen: Stretch[] = []
  let height = 0
  let isBusy = true

  function look(): void {
    const element = body.value
    // A card that is not drawn, or a page that nobody sees, shows nothing.
    if (element === null || element.clientHeight === 0 || document.hidden) return
    // What is still being loaded is not there to be read, and what stood in its place was not it.
    const wasBusy = isBusy
    isBusy = element.querySelector('[aria-busy="true"]') !== null
    if (isBusy) return
    if (wasBusy) seen = []
    height = element.scrollHeight
    seen = addStretch(seen, [element.scrollTop, element.scrollTop + element.clientHeight])
    const all = firstUnseen(seen, height) === null
    if (all) requests.markSeen(requestId)
    screensLeft.value = all ? 0 : Math.ceil(unseenHeight(seen, height) / element.clientHeight)
  }

  function showNext(): void {
    const next = firstUnseen(seen, height)
    if (next === null) return
    // A line that was cut at the edge is shown whole.
    const OVERLAP = 24
    body.value?.scrollTo({ top: Math.max(0, next[0] - OVERLAP) })
    look()
  }

  // Looks come after the browser has laid everything out by itself; asking earlier would make it do so twice.
  const resizes = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(look)
  let frame = 0
  const changes = new MutationObserver(() => {
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(look)
  })

  onMounted(() => {
    if (body.value === null || content.value === null) return
    resizes?.observe(body.value)
    resizes?.observe(content.value)
    const attributeFilter = ['aria-busy']
    changes.observe(content.value, { subtree: true, childList: true, attributeFilter })
    body.value.addEventListener('scroll', look, { passive: true })
    document.addEventListener('visibilitychange', look)
  })
  onBeforeUnmount(() => {
    resizes?.disconnect()
    changes.disconnect()
    cancelAnimationFrame(frame)
    document.removeEventListener('visibilitychange', look)
  })
  return { screensLeft, showNext }
}
