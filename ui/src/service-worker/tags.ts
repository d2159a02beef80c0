/**
 * What notifications are about, known by the same name to the server, to the worker and to every tab: of those
 * with the same tag only the last is shown.
 */

/** Of a request, as the server makes it (`Key::tag`): the last 31 digits of its id. */
export const requestTag = (requestId: string): string =>
  `r${requestId.replaceAll('-', '').slice(1)}`

export const isRequestTag = (tag: string): boolean => /^r[0-9a-f]{31}$/.test(tag)

/** Says that something is over. There is one at most, and it goes when somebody looks at Sayso. */
export const OVER = 'sayso.over'

/** What came could not be read. */
export const UNREADABLE = 'sayso.unreadable'
