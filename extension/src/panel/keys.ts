/** What the panel adds to the web app's keys. */
export const PANEL_KEYS = {
  title: 'Side panel',
  rows: [
    { keys: ['p'], what: 'Send this page to an agent' },
    { keys: ['Shift', 'O'], what: 'Options of the extension' },
  ],
}
