import { onBeforeUnmount, onMounted } from 'vue'

import { isFree } from '../shell/keys'

export interface InboxActions {
  /** The page, so that keys pressed in the rail stay the rail's. */
  page: () => HTMLElement | null
  /** Without rows there is nothing to move through, and the keys are free for others. */
  hasRows: () => boolean
  isInCard: (target: EventTarget | null) => boolean
  move: (step: 1 | -1) => void
  open: () => void
  mark: () => void
  markNone: () => void
}

const STEPS: Record<string, 1 | -1> = { j: 1, k: -1 }
const ARROWS: Record<string, 1 | -1> = { ArrowDown: 1, ArrowUp: -1 }

/** Triage by keyboard: the keys move and select, none of them decides. */
export function useInboxKeys(actions: InboxActions): void {
  function pressed(event: KeyboardEvent): void {
    const { target } = event
    if (!actions.hasRows()) return
    if (target !== document.body && !actions.page()?.contains(target as Node)) return
    if (handled(event, actions.isInCard(target))) {
      event.preventDefault()
      event.stopPropagation()
    }
  }

  function handled(event: KeyboardEvent, inCard: boolean): boolean {
    // The key that opened the card is still down: it must not go on to press something there.
    if (inCard && isHeldEnter(event)) return true
    if (!isFree(event)) return false
    const key = event.shiftKey || event.key.length > 1 ? event.key : event.key.toLowerCase()
    const step = STEPS[key] ?? (inCard ? undefined : ARROWS[key])
    if (step !== undefined) return done(() => actions.move(step))
    if (event.repeat) return false
    if (key === 'x') return done(actions.mark)
    if (key === 'X') return done(actions.markNone)
    if (inCard) return false
    return key === 'o' || (key === 'Enter' && !isOnButton(event)) ? done(actions.open) : false
  }

  // Before everything else: the rail has the same keys for its sessions.
  onMounted(() => window.addEventListener('keydown', pressed, true))
  onBeforeUnmount(() => window.removeEventListener('keydown', pressed, true))
}

function done(action: () => void): true {
  action()
  return true
}

/** In a text of several lines it is only more lines. */
function isHeldEnter({ key, repeat, target }: KeyboardEvent): boolean {
  if (key !== 'Enter' || !repeat) return false
  return !(target instanceof Element && target.closest('textarea, [data-text-field]') !== null)
}

/** Enter presses a button, whatever else it means. */
function isOnButton({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('button') !== null
}
