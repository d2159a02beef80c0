import { onBeforeUnmount, onMounted } from 'vue'
import { useRouter } from 'vue-router'

import { useSessions } from '../../data/sessions'
import type { Session } from '../../protocol.gen'
import { useSessionActions, type RenamePlace } from '../session/actions'
import { isTyping } from './keys'

/** How long the first key of a pair such as `g i` is remembered. */
const PAIR_WINDOW = 1000

/** The keys that work everywhere, as long as nobody is typing. */
export function useShortcuts(showHelp: () => void): void {
  const router = useRouter()
  const sessions = useSessions()
  const actions = useSessionActions()
  let pairStarted = -Infinity

  const go = (name: string): void => void router.push({ name })

  const PAIRS: Record<string, () => void> = {
    i: () => go('inbox'),
    s: () => go('sessions'),
    r: () => go('rules'),
    h: () => go('history'),
    d: () => go('devices'),
    n: () => go('notifications'),
  }
  const KEYS: Record<string, () => void> = {
    n: () => go('new-session'),
    ',': () => go('settings'),
    '?': showHelp,
    R: () => onSession((session, place) => actions.startRename(session, place)),
    A: () => onSession((session) => actions.toggleArchive(session)),
    S: () => onSession((session) => actions.stop(session)),
    D: () => onSession((session) => actions.askToDelete(session)),
  }

  /** The session that has the focus in the list, or else the one that is open. */
  function onSession(action: (session: Session, place: RenamePlace) => void): void {
    const item = document.activeElement?.closest<HTMLElement>('[data-testid="session-item"]')
    const focused = sessions.get(item?.dataset.sessionId ?? '')
    const open = sessions.get(String(router.currentRoute.value.params.sessionId ?? ''))
    if (focused !== null) action(focused, 'list')
    else if (open !== null) action(open, 'header')
  }

  function pressed(event: KeyboardEvent): void {
    if (isTyping(event)) return
    const isPair = event.timeStamp - pairStarted < PAIR_WINDOW
    pairStarted = event.key === 'g' ? event.timeStamp : -Infinity
    // Caps lock is not Shift: a capital alone must not end an agent.
    const key = event.shiftKey ? event.key : event.key.toLowerCase()
    const action = (isPair ? PAIRS[key] : undefined) ?? KEYS[key]
    if (action === undefined) return
    action()
    event.preventDefault()
  }

  onMounted(() => window.addEventListener('keydown', pressed))
  onBeforeUnmount(() => window.removeEventListener('keydown', pressed))
}
