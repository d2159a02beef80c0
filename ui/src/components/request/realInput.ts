/** What decides something: every key pressed in it, and every press of its buttons. */
const DECIDING = '[data-decides]'
const PRESSES = ['click', 'pointerdown', 'mousedown', 'touchstart']

/**
 * Only a human decides. An event that a script made up, such as one of a
 * browser extension, presses nothing where requests are decided.
 */
export function refuseMadeUpInput(window: Window): void {
  const refuse = (event: Event): void => {
    if (event.isTrusted || !decides(event)) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  for (const type of [...PRESSES, 'keydown']) window.addEventListener(type, refuse, true)
}

function decides({ type, target }: Event): boolean {
  if (!(target instanceof Element) || target.closest(DECIDING) === null) return false
  return type === 'keydown' || target.closest('button') !== null
}
