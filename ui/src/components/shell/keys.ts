/** True when single keys are text, or belong to something with keys of its own. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.isComposing || event.repeat) return true
  if (event.ctrlKey || event.metaKey || event.altKey) return true
  if (document.querySelector('dialog[open]') !== null) return true
  const target = event.target
  return (
    target instanceof Element &&
    target.closest(
      'input, textarea, select, [contenteditable], [role="radio"], [role="checkbox"]',
    ) !== null
  )
}

export interface KeyHelp {
  keys: string[]
  what: string
}

export const KEY_HELP: { title: string; rows: KeyHelp[] }[] = [
  {
    title: 'Everywhere',
    rows: [
      { keys: ['g', 'i'], what: 'Inbox' },
      { keys: ['n'], what: 'New session' },
      { keys: ['j'], what: 'Next session' },
      { keys: ['k'], what: 'Previous session' },
      { keys: ['?'], what: 'This help' },
    ],
  },
  {
    title: 'In a session',
    rows: [
      { keys: ['r'], what: 'To the waiting request' },
      { keys: ['c'], what: 'To the message field' },
      { keys: ['Enter'], what: 'Send the message' },
      { keys: ['Shift', 'Enter'], what: 'New line' },
    ],
  },
  {
    title: 'While a request has the focus',
    rows: [
      { keys: ['a'], what: 'Allow once (not on risky ones)' },
      { keys: ['d'], what: 'Deny, with a reason' },
      { keys: ['e'], what: 'Edit before it runs' },
      { keys: ['Esc'], what: 'Back; what you typed stays' },
    ],
  },
]
