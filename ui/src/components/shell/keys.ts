const TEXT = 'textarea, select, [contenteditable], [data-text-field]'

/** Fields take every key; these elements have keys of their own. */
const WITH_KEYS = `input, ${TEXT}, [role="radio"], [role="checkbox"], [role="menu"], [role="listbox"]`

/** True when a single key is nobody's text, also when it is held down. */
export function isFree(event: KeyboardEvent): boolean {
  return isPlain(event) && !isWithin(event, WITH_KEYS)
}

/** True when single keys are text, or belong to something with keys of its own. */
export function isTyping(event: KeyboardEvent): boolean {
  return event.repeat || !isFree(event)
}

function isPlain(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.isComposing) return false
  if (event.ctrlKey || event.metaKey || event.altKey) return false
  return document.querySelector('dialog[open], [role="menu"]') === null
}

function isWithin({ target }: KeyboardEvent, selector: string): boolean {
  return target instanceof Element && target.closest(selector) !== null
}

/** Keys are pressed together or one after the other; a slash stands between those that do the same. */
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
      { keys: ['g', 'r'], what: 'Rules' },
      { keys: ['g', 'h'], what: 'History' },
      { keys: ['g', 'd'], what: 'Devices' },
      { keys: ['g', 'n'], what: 'Notifications' },
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
    title: 'Inbox',
    rows: [
      { keys: ['j / ↓'], what: 'Next request' },
      { keys: ['k / ↑'], what: 'Previous request' },
      { keys: ['Enter / o'], what: 'Into the request' },
      { keys: ['x'], what: 'Select it, to decide several' },
      { keys: ['Shift', 'X'], what: 'Select none' },
    ],
  },
  {
    title: 'History',
    rows: [
      { keys: ['j / ↓'], what: 'Next entry' },
      { keys: ['k / ↑'], what: 'Previous entry' },
      { keys: ['Enter / o'], what: 'Into the entry' },
      { keys: ['Esc'], what: 'Back to the list' },
      { keys: ['/'], what: 'Search' },
    ],
  },
  {
    title: 'While a request has the focus',
    rows: [
      { keys: ['Enter / a'], what: 'Allow once (not on risky ones)' },
      { keys: ['Esc / d'], what: 'Deny, with a reason' },
      { keys: ['e'], what: 'Edit before it runs' },
      { keys: ['h'], what: 'Stop the clock, or let it run' },
      { keys: ['['], what: 'Previous request' },
      { keys: [']'], what: 'Next request' },
      { keys: ['1 … 9'], what: 'Choose an option of a question' },
      { keys: ['Esc'], what: 'In a field: back; what you typed stays' },
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
