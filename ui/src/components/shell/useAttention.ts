import { watch, type Ref } from 'vue'
import { useRoute } from 'vue-router'

import { useRequests } from '../../data/requests'
import { useSessions } from '../../data/sessions'
import { useAnnouncement } from '../cues/useAnnouncement'
import { useRequestCues } from '../cues/useRequestCues'
import { faviconFor } from './favicon'

function showCount(count: number): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
  if (icon !== null) icon.href = faviconFor(count)
  // Browsers without installed apps do not know it, and some refuse it.
  void navigator.setAppBadge?.(count).catch(() => undefined)
}

/** Not every browser can tell; then soon. */
function whenIdle(work: () => void): void {
  if ('requestIdleCallback' in window) window.requestIdleCallback(work, { timeout: 500 })
  else setTimeout(work, 50)
}

/**
 * Says outside the page how much waits: in the tab's title and icon, on the
 * app's icon where it is installed, and by the cues that are wanted. Returns
 * the sentence for screen readers.
 */
export function useAttention(): Ref<string> {
  const requests = useRequests()
  const sessions = useSessions()
  const route = useRoute()

  watch(
    [() => requests.count, () => sessions.alerted.length > 0, () => route.meta.title],
    ([count, isAlerted, page]) => {
      const name = typeof page === 'string' ? `${page} · Sayso` : 'Sayso'
      // The number is what waits in the inbox; what ran unasked cannot be answered there.
      document.title = `${isAlerted ? '⚠ ' : ''}${count > 0 ? `(${count}) ` : ''}${name}`
    },
    { immediate: true },
  )

  watch(
    () => requests.count,
    // The card comes first: both of these talk to the browser outside of the page.
    () => whenIdle(() => showCount(requests.count)),
    { immediate: true },
  )

  useRequestCues()
  return useAnnouncement()
}
