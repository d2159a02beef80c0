import { onBeforeUnmount, onMounted } from 'vue'
import { useRouter } from 'vue-router'

import { useSessions } from '../../data/sessions'
import { isTyping } from './keys'

/** How long the first key of a pair such as `g i` is remembered. */
const PAIR_WINDOW = 1000

/** The keys that work everywhere, as long as nobody is typing. */
export function useShortcuts(showHelp: () => void): void {
  const router = useRouter()
  const sessions = useSessions()
  let pairStarted = -Infinity

  function moveSession(step: number): void {
    const ids = sessions.inOrder.map(({ session_id }) => session_id)
    if (ids.length === 0) return
    const at = ids.indexOf(String(router.currentRoute.value.params.sessionId ?? ''))
    const next = at < 0 ? 0 : Math.min(ids.length - 1, Math.max(0, at + step))
    void router.push({ name: 'session', params: { sessionId: ids[next] } })
  }

  function pressed(event: KeyboardEvent): void {
    if (isTyping(event)) return
    const isPair = event.timeStamp - pairStarted < PAIR_WINDOW
    pairStarted = event.key === 'g' ? event.timeStamp : -Infinity
    if (isPair && event.key === 'i') void router.push({ name: 'inbox' })
    else if (event.key === 'n') void router.push({ name: 'new-session' })
    else if (event.key === 'j') moveSession(1)
    else if (event.key === 'k') moveSession(-1)
    else if (event.key === '?') showHelp()
    else return
    event.preventDefault()
  }

  onMounted(() => window.addEventListener('keydown', pressed))
  onBeforeUnmount(() => window.removeEventListener('keydown', pressed))
}
