/**
 * One press of a key decides at most one request: a key that stays down while
 * the next request takes the place of the last one must not decide that too.
 */
const down = new Set<string>()
/** Keys that have decided something and were not let go since. */
const spent = new Set<string>()

/** Longer than a double click. */
const RETURNING = 500
/** When somebody came back to this window from another one. */
let returnedAt = -Infinity
let isAway = false

/**
 * Called before a decision is sent; false when a key that is still down has
 * made one, and in the first moment after the window was come back to: a click
 * meant for a window that stood over this one must not decide.
 */
export function takeDecision(): boolean {
  if (spent.size > 0 || performance.now() - returnedAt < RETURNING) return false
  for (const key of down) spent.add(key)
  return true
}

function pressed({ code }: KeyboardEvent): void {
  down.add(code)
}

function released({ code }: KeyboardEvent): void {
  down.delete(code)
  spent.delete(code)
}

/** Keys that are let go outside of the window never say so. */
function left(): void {
  down.clear()
  spent.clear()
  // A frame inside of this page has the focus then, which is not another window.
  isAway = !document.hasFocus()
}

function returned(): void {
  if (isAway) returnedAt = performance.now()
  isAway = false
}

window.addEventListener('keydown', pressed, { capture: true })
window.addEventListener('keyup', released, { capture: true })
window.addEventListener('blur', left)
window.addEventListener('focus', returned)
