import { onBeforeUnmount, onMounted, watch } from 'vue'
import { useRouter } from 'vue-router'

import { useCues } from '../../data/cues'
import { useRequests } from '../../data/requests'
import { useServer } from '../../data/server'
import { useSessions } from '../../data/sessions'
import type { PendingRequest } from '../../protocol.gen'
import { isRequestTag, OVER, requestTag } from '../../service-worker/tags'
import { headline } from '../request/headline'
import { sessionTitle } from '../session/words'
import { canPlay, playChime, unlockOnGesture } from './chime'
import { closeNotifications, notificationState, notify } from './notifications'
import { inOneTab } from './oneTab'
import { useArrivals } from './useArrivals'

/** Sound and notifications for requests that arrive, as far as they are wanted. */
export function useRequestCues(): void {
  const cues = useCues()
  const requests = useRequests()
  const server = useServer()
  const sessions = useSessions()
  const router = useRouter()
  let stopWaiting: (() => void) | undefined

  onMounted(() => {
    stopWaiting = unlockOnGesture(() => cues.sound)
    document.addEventListener('visibilitychange', looked)
    looked()
  })
  onBeforeUnmount(() => {
    stopWaiting?.()
    document.removeEventListener('visibilitychange', looked)
  })

  useArrivals(({ fresh, isSnapshot }) => {
    if (isSnapshot) return
    // A tab that cannot play must not take the turn of one that can.
    if (cues.sound && canPlay()) void inOneTab('sayso.chime', playChime)
    const isLookedAt = document.visibilityState === 'visible'
    if (!cues.notifications || isLookedAt || notificationState() !== 'allowed') return
    for (const request of fresh) void show(request)
  })

  /** Says where and what in Sayso's words; the agent's own stay on the page. */
  async function show(request: PendingRequest): Promise<void> {
    const { request_id, session_id } = request
    const session = sessions.get(session_id)
    const path = router.resolve({
      name: 'session',
      params: { sessionId: session_id },
      query: { request: request_id },
    }).fullPath
    const text = {
      title: headline(request),
      body: session === null ? '' : sessionTitle(session),
      tag: requestTag(request_id),
      path,
    }
    cues.cannotNotify = !(await notify(text, () => void router.push(path)))
    // It may have been decided in the meantime.
    if (!isOpen(text.tag)) close((tag) => tag === text.tag)
  }

  const isOpen = (tag: string): boolean =>
    requests.open.some(({ request_id }) => requestTag(request_id) === tag)

  function close(isOver: (tag: string) => boolean): void {
    // What cannot be closed is closed by whoever reads it.
    void closeNotifications(isOver).catch(() => undefined)
  }

  /** Whoever looks needs not be told that nothing waits. */
  function looked(): void {
    if (document.visibilityState === 'visible') close((tag) => tag === OVER)
  }

  watch(
    () => requests.open,
    (now, before) => {
      const open = new Set(now.map(({ request_id }) => request_id))
      const gone = before.filter(({ request_id }) => !open.has(request_id))
      const tags = new Set(gone.map(({ request_id }) => requestTag(request_id)))
      if (tags.size > 0) close((tag) => tags.has(tag))
    },
  )

  // What was decided while no tab was connected is known only now.
  watch(
    () => server.status,
    (status) => {
      if (status === 'connected') close((tag) => isRequestTag(tag) && !isOpen(tag))
    },
  )
}
