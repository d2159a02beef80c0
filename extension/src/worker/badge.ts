import type { WorkerState } from '../kept/state'

export interface Badge {
  text: string
  background: string
  colour: string
  title: string
}

/** Amber means that somebody waits for a human; all else is grey. */
const AMBER = { background: '#f5a524', colour: '#1d2129' }
const GREY = { background: '#5b6270', colour: '#ffffff' }

/** What the icon in the toolbar says without being opened. */
export function badgeFor({ link, waiting }: WorkerState, address: string): Badge {
  switch (link) {
    case 'unpaired':
      return { text: '?', ...GREY, title: 'Sayso: not paired with a server yet. See its options.' }
    case 'barred':
      return { text: '?', ...GREY, title: `Sayso: no longer let in at ${address}. Pair it again.` }
    case 'offline':
      return { text: '!', ...GREY, title: `Sayso: no connection to ${address}. It tries again.` }
    case 'connecting':
      return { text: '…', ...GREY, title: `Sayso: connecting to ${address}.` }
    case 'connected':
      return { text: waiting > 0 ? String(waiting) : '', ...AMBER, title: connectedTitle(waiting) }
  }
}

function connectedTitle(waiting: number): string {
  if (waiting === 0) return 'Sayso: nothing waits.'
  return waiting === 1
    ? 'Sayso: one request waits for you.'
    : `Sayso: ${waiting} requests wait for you.`
}
