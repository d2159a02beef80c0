/** Fields take every key; these elements have keys of their own. */
const WITH_KEYS =
  'input, textarea, select, [contenteditable], [role="radio"], [role="checkbox"], [role="menu"], [role="listbox"]'

/** True when a single key is nobody's text, also when it is held down. */
export function isFree(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.isComposing) return false
  if (event.ctrlKey || event.metaKey || event.altKey) return false
  if (document.querySelector('dialog[open], [role="menu"]') !== null) return false
  return !(event.target instanceof Element && event.target.closest(WITH_KEYS) !== null)
}

/** True when single keys are text, or belong to something with keys of its own. */
export function isTyping(event: KeyboardEvent): boolean {
  return event.repeat || !isFree(event)
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
      { keys: ['g', 's'], what: 'Sessions' },
      { keys: ['n'], what: 'New session' },
      { keys: [','], what: 'Settings' },
      { keys: ['?'], what: 'This help' },
    ],
  },
  {
    title: 'Sessions',
    rows: [
      { keys: ['j'], what: 'Next session' },
      { keys: ['k'], what: 'Previous session' },
      { keys: ['Enter'], what: 'Open it' },
      { keys: ['/'], what: 'Search' },
      { keys: ['Shift', 'R'], what: 'Rename' },
      { keys: ['Shift', 'A'], what: 'Archive or bring back' },
      { keys: ['Shift', 'S'], what: 'End the agent' },
      { keys: ['Shift', 'D'], what: 'Delete, after a question' },
    ],
  },
  {
    title: 'In a session',
    rows: [
      { keys: ['r'], what: 'To the waiting request' },
      { keys: ['c'], what: 'To the message field' },
      { keys: ['Enter'], what: 'Send the message' },
      { keys: ['Shift', 'Enter'], what: 'New line' },
      { keys: ['Esc'], what: 'Stop the agent, when nothing is typed' },
      { keys: ['Shift', 'Tab'], what: 'Next permission mode' },
      { keys: ['@'], what: 'Name a file' },
      { keys: ['/'], what: 'Give a command' },
      { keys: ['↑'], what: 'Take back a queued message, then earlier ones' },
      { keys: ['End'], what: 'To the newest message' },
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
  {
    title: 'New session',
    rows: [
      { keys: ['Tab'], what: 'Complete the folder' },
      { keys: ['Ctrl', 'Enter'], what: 'Start' },
    ],
  },
]
