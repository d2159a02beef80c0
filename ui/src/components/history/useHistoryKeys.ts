import { onBeforeUnmount, onMounted } from 'vue'

import { isFree } from '../shell/keys'

export interface HistoryActions {
  /** The page, so that keys pressed in the rail stay the rail's. */
  page: () => HTMLElement | null
  /** Without rows there is nothing to move through, and the keys are free for others. */
  hasRows: () => boolean
  isInDetail: (target: EventTarget | null) => boolean
  move: (step: 1 | -1) => void
  /** Into the entry. */
  open: () => void
  /** Out of the entry, back to the list. */
  leave: () => void
  search: () => void
}

const STEPS: Record<string, 1 | -1> = { j: 1, k: -1 }
const ARROWS: Record<string, 1 | -1> = { ArrowDown: 1, ArrowUp: -1 }

/** The same keys as in the inbox. */
export function useHistoryKeys(actions: HistoryActions): void {
  function pressed(event: KeyboardEvent): void {
    const { target } = event
    if (target !== document.body && !actions.page()?.contains(target as Node)) return
    if (!isFree(event)) return
    const action = actionFor(event, actions.isInDetail(target))
    if (action === null) return
    action()
    event.preventDefault()
    event.stopPropagation()
  }

  function actionFor({ key, repeat, target }: KeyboardEvent, inDetail: boolean) {
    const step = STEPS[key] ?? (inDetail ? undefined : ARROWS[key])
    if (key === '/' && !repeat) return actions.search
    if (!actions.hasRows()) return null
    if (step !== undefined) return () => actions.move(step)
    if (repeat) return null
    if (inDetail) return key === 'Escape' ? actions.leave : null
    return key === 'o' || (key === 'Enter' && !hasOwnEnter(target)) ? actions.open : null
  }

  // Before everything else: the rail has the same keys for its sessions.
  onMounted(() => window.addEventListener('keydown', pressed, true))
  onBeforeUnmount(() => window.removeEventListener('keydown', pressed, true))
}

/** Enter presses a button and follows a link, except that of a row. */
function hasOwnEnter(target: EventTarget | null): boolean {
  if (!(target instanceof Element) || target.closest('a, button') === null) return false
  return target.closest('[data-row-link]') === null
}
