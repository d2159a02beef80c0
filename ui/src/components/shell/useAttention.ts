import { ref, watch, type Ref } from 'vue'

import { useRequests } from '../../data/requests'
import { useSessions } from '../../data/sessions'
import { visible } from '../../text/visible'
import { headline } from '../request/headline'

/**
 * Says outside the page that something waits: in the tab's title and icon.
 * Returns the sentence for screen readers when a request is new.
 */
export function useAttention(): Ref<string> {
  const requests = useRequests()
  const sessions = useSessions()
  const announcement = ref('')

  watch(
    () => requests.count,
    (count) => {
      document.title = count > 0 ? `(${count}) Sayso` : 'Sayso'
      const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
      if (icon !== null) icon.href = count > 0 ? '/favicon-waiting.svg' : '/favicon.svg'
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
