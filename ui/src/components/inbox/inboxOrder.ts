import type { Outcome, PendingRequest } from '../../protocol.gen'
import { secondsLeft } from '../../text/time'

/** A line of the inbox: a request that waits, or one that has just ended. */
export interface InboxRow {
  request: PendingRequest
  outcome: Outcome | null
}

/** With less time than this a request moves to the top. */
export const URGENT_SECONDS = 60

export function isUrgent(request: PendingRequest, now: number): boolean {
  return runs(request) && secondsLeft(request.deadline, now) < URGENT_SECONDS
}

/** Running clocks first, the soonest on top; then what waits without one, the oldest on top; held ones last. */
export function byUrgency(one: PendingRequest, other: PendingRequest): number {
  const ranks = rank(one) - rank(other)
  if (ranks !== 0) return ranks
  if (runs(one) && runs(other)) return compare(one.deadline, other.deadline)
  return compare(one.created_at, other.created_at)
}

/**
 * The rows as they follow from those before. New requests take their place by
 * urgency. The others stay where they are whatever happens to their clocks, so
 * that nothing jumps away under a pointer; only what becomes urgent moves up.
 */
export function arrange(
  before: readonly InboxRow[],
  open: readonly PendingRequest[],
  closed: readonly InboxRow[],
  now: number,
): InboxRow[] {
  const current = new Map<string, InboxRow>()
  for (const row of closed) current.set(row.request.request_id, row)
  for (const request of open) current.set(request.request_id, { request, outcome: null })

  const rows = before.flatMap(({ request }) => current.get(request.request_id) ?? [])
  const known = new Set(rows.map(({ request }) => request.request_id))
  const arrived = open.filter(({ request_id }) => !known.has(request_id)).sort(byUrgency)
  for (const request of arrived) {
    placeBefore(rows, { request, outcome: null }, (other) => byUrgency(request, other) < 0)
  }
  for (const row of urgentRows(rows, now)) {
    placeBefore(rows, row, (other) => !isUrgent(other, now) || byUrgency(row.request, other) < 0)
  }
  return rows
}

function urgentRows(rows: readonly InboxRow[], now: number): InboxRow[] {
  return rows
    .filter(({ request, outcome }) => outcome === null && isUrgent(request, now))
    .sort((one, other) => byUrgency(one.request, other.request))
}

/** Puts a row before the first that waits and matches; one that is there already only moves up. */
function placeBefore(
  rows: InboxRow[],
  row: InboxRow,
  matches: (other: PendingRequest) => boolean,
): void {
  const from = rows.indexOf(row)
  const to = rows.findIndex(
    (other) => other !== row && other.outcome === null && matches(other.request),
  )
  if (from < 0) rows.splice(to < 0 ? rows.length : to, 0, row)
  else if (to >= 0 && to < from) rows.splice(to, 0, ...rows.splice(from, 1))
}

/** Where to go on when a request is over: the next one below, or else the last above. */
export function successor(
  before: readonly InboxRow[],
  now: readonly InboxRow[],
  requestId: string | null,
): string | null {
  const isHere = ({ request }: InboxRow): boolean => request.request_id === requestId
  const stays = now.findIndex(isHere)
  const place = Math.max(0, stays >= 0 ? stays : before.findIndex(isHere))
  const waits = ({ outcome }: InboxRow): boolean => outcome === null
  const next = now.slice(place).find(waits) ?? now.slice(0, place).findLast(waits)
  return next?.request.request_id ?? null
}

function runs(request: PendingRequest): request is PendingRequest & { deadline: string } {
  return request.deadline !== null && !request.held
}

function rank(request: PendingRequest): number {
  if (runs(request)) return 0
  return request.held ? 2 : 1
}

/** Times as RFC 3339 from one server: their texts may differ in digits, so their values count. */
function compare(one: string, other: string): number {
  return Date.parse(one) - Date.parse(other)
}
