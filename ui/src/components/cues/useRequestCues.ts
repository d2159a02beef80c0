import { onBeforeUnmount, onMounted, watch } from 'vue'
import { useRouter } from 'vue-router'

import { useCues } from '../../data/cues'
import { useRequests } from '../../data/requests'
import { useSessions } from '../../data/sessions'
import type { PendingRequest } from '../../protocol.gen'
import { headline } from '../request/headline'
import { sessionTitle } from '../session/words'
import { canPlay, playChime, unlockOnGesture } from './chime'
import { notificationState, notify } from './notifications'
import { inOneTab } from './oneTab'
import { useArrivals } from './useArrivals'

/** Sound and notifications for requests that arrive, as far as they are wanted. */
export function useRequestCues(): void {
  const cues = useCues()
  const requests = useRequests()
  const sessions = useSessions()
  const router = useRouter()
  const shown = new Map<string, Notification>()
  let stopWaiting: (() => void) | undefined

  onMounted(() => (stopWaiting = unlockOnGesture(() => cues.sound)))
  onBeforeUnmount(() => stopWaiting?.())

  useArrivals(({ fresh, isSnapshot }) => {
    if (isSnapshot) return
    // A tab that cannot play must not take the turn of one that can.
    if (cues.sound && canPlay()) void inOneTab('sayso.chime', playChime)
    const isLookedAt = document.visibilityState === 'visible'
    if (!cues.notifications || isLookedAt || notificationState() !== 'allowed') return
    for (const request of fresh) show(request)
  })

  /** Says where and what in Sayso's words; the agent's own stay on the page. */
  function show(request: PendingRequest): void {
    const { request_id, session_id } = request
    const session = sessions.get(session_id)
    const body = session === null ? '' : sessionTitle(session)
    const notification = notify({ title: headline(request), body, tag: request_id }, () => {
      const query = { request: request_id }
      void router.push({ name: 'session', params: { sessionId: session_id }, query })
    })
    cues.cannotNotify = notification === null
    if (notification !== null) shown.set(request_id, notification)
  }

  watch(
    () => requests.open,
    (open) => {
      const ids = new Set(open.map(({ request_id }) => request_id))
      for (const [id, notification] of shown) {
        if (ids.has(id)) continue
        notification.close()
        shown.delete(id)
      }
    },
  )
}
