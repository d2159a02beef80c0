import { computed, nextTick, ref, watch, type Ref } from 'vue'

import { useClock } from '../../data/clock'
import { useRequests } from '../../data/requests'
import { useServer } from '../../data/server'
import { useSessions } from '../../data/sessions'
import type { PendingRequest } from '../../protocol.gen'
import { outcomeText } from '../../text/outcome'
import { secondsLeft } from '../../text/time'
import { headline } from '../request/headline'
import { sessionTitle } from '../session/words'
import { useArrivals } from './useArrivals'

const LAST_SECONDS = 10

/** What a screen reader says of requests, wherever on the page somebody is. */
export function useAnnouncement(): Ref<string> {
  const requests = useRequests()
  const sessions = useSessions()
  const server = useServer()
  const clock = useClock()
  const announcement = ref('')
  const waiting: string[] = []

  /** Sentences of the same moment are said together, none over another. */
  async function say(sentence: string): Promise<void> {
    if (waiting.push(sentence) > 1) return
    await nextTick()
    const text = waiting.splice(0).join(' ')
    // The same words again are news only if something about them is different.
    announcement.value = text === announcement.value ? `${text}\u00a0` : text
  }

  function named(request: PendingRequest): string {
    const session = sessions.get(request.session_id)
    return headline(request) + (session === null ? '.' : `. Session ${sessionTitle(session)}.`)
  }

  useArrivals(({ fresh }) => {
    const latest = fresh.at(-1)
    if (latest === undefined) return
    const many = `${fresh.length} requests are waiting for you. The newest:`
    void say(`${fresh.length === 1 ? 'Waiting for you:' : many} ${named(latest)}`)
  })

  const ending = computed(() =>
    requests.open
      .filter(({ deadline, held, request_id }) => {
        if (deadline === null || held || requests.sent.has(request_id)) return false
        return secondsLeft(deadline, clock.now) <= LAST_SECONDS
      })
      .map(({ request_id }) => request_id)
      .join(' '),
  )
  watch(ending, (now, before) => {
    const known = before.split(' ')
    for (const request of requests.open) {
      const { request_id } = request
      if (!now.split(' ').includes(request_id) || known.includes(request_id)) continue
      void say(`The last ten seconds: ${named(request)}`)
    }
  })

  watch(
    () => requests.closed,
    (now, before) => {
      for (const entry of now) {
        const { client } = entry.outcome
        const isOwn = client !== null && server.isOwnClient(client.client_id)
        if (isOwn || before.includes(entry)) continue
        void say(`${outcomeText(entry.outcome, server.isOwnClient)}: ${named(entry.request)}`)
      }
    },
  )

  return announcement
}
