import { forget, readJson, writeJson } from './storage'

/** Where somebody wanted to go who was not let in, for the way through the door. */
interface Wanted {
  path: string
  at: number
}

const KEY = 'sayso.wanted'
/** As long as the longest link works. Later it would surprise. */
const LASTS = 15 * 60_000

/**
 * In the browser's storage, since the camera opens the link that lets it in as
 * a page of its own. The start page is wanted by nobody in particular.
 */
export function rememberWanted(path: string, now: number): void {
  if (path !== '/') writeJson(localStorage, KEY, { path, at: now } satisfies Wanted)
}

/** Where to go now that the door is open; asked once. */
export function takeWanted(now: number): string | null {
  const wanted = readJson(localStorage, KEY, isWanted)
  forget(localStorage, KEY)
  return wanted !== null && now - wanted.at < LASTS ? wanted.path : null
}

function isWanted(value: unknown): value is Wanted {
  const { path, at } = (value ?? {}) as Partial<Wanted>
  // One slash: an address of another host has two.
  return typeof path === 'string' && /^\/(?!\/)/.test(path) && typeof at === 'number'
}
