/** On a touch keyboard Enter is the only way to a new line. */
export function isTouch(): boolean {
  return window.matchMedia?.('(pointer: coarse)').matches ?? false
}
