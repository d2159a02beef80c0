import { ref, watch, type Ref } from 'vue'
import { useRoute } from 'vue-router'

import { useRequests } from '../../data/requests'
import { useSessions } from '../../data/sessions'
import { visible } from '../../text/visible'
import { headline } from '../request/headline'
import { faviconFor } from './favicon'

/**
 * Says outside the page how much waits: in the tab's title and icon, and on
 * the app's icon where it is installed. Returns the sentence for screen
 * readers when a request is new.
 */
export function useAttention(): Ref<string> {
  const requests = useRequests()
  const sessions = useSessions()
  const route = useRoute()
  const announcement = ref('')

  watch(
    [() => requests.count, () => route.meta.title],
    ([count, page]) => {
      const name = typeof page === 'string' ? `${page} · Sayso` : 'Sayso'
      document.title = count > 0 ? `(${count}) ${name}` : name
    },
    { immediate: true },
  )

  watch(
    () => requests.count,
    (count) => {
      const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
      if (icon !== null) icon.href = faviconFor(count)
      // Browsers without installed apps do not know it, and some refuse it.
      void navigator.setAppBadge?.(count).catch(() => undefined)
    },
    { immediate: true },
  )

  watch(
    () => requests.open,
    (now, before) => {
      const fresh = now.filter(
        (request) => !before.some((old) => old.request_id === request.request_id),
      )
      const latest = fresh.at(-1)
      if (latest === undefined) return
      const title = visible(sessions.get(latest.session_id)?.title ?? '')
      announcement.value = `Waiting for you: ${headline(latest)}. Session ${title}.`
    },
  )

  return announcement
}
