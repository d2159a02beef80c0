import type { LocationQuery, LocationQueryRaw } from 'vue-router'

import type { HistoryQuery } from '../../data/history'

/** What narrows the history, as it stands in the address. Empty where nothing is chosen. */
export interface HistoryFilter {
  session: string
  project: string
  tool: string
  outcome: string
  by: string
  kind: string
  /** A span that moves along with the days, or `range`. */
  time: string
  /** The first and the last day of a range: `2026-05-04`. */
  from: string
  to: string
  search: string
}

export type FilterField = keyof HistoryFilter

export const NO_FILTER: HistoryFilter = {
  ...{ session: '', project: '', tool: '', outcome: '', by: '', kind: '' },
  ...{ time: '', from: '', to: '', search: '' },
}

const FIELDS = Object.keys(NO_FILTER) as FilterField[]
const RANGE: readonly FilterField[] = ['from', 'to']

/** Days back from today that a span begins. */
const SPANS: Record<string, number> = { today: 0, '7d': 6, '30d': 29 }

export function readFilter(query: LocationQuery): HistoryFilter {
  const filter = { ...NO_FILTER }
  for (const field of FIELDS) {
    const value = query[field]
    if (typeof value === 'string') filter[field] = value
  }
  return filter
}

export function writeFilter(filter: HistoryFilter): LocationQueryRaw {
  const used = FIELDS.filter((field) => filter[field] !== '' && counts(filter, field))
  return Object.fromEntries(used.map((field) => [field, filter[field]]))
}

/** How many things narrow it; a range is one of them. */
export function filterCount(filter: HistoryFilter): number {
  return FIELDS.filter((field) => filter[field] !== '' && !RANGE.includes(field)).length
}

/** The days of a range mean nothing while another span is chosen. */
function counts({ time }: HistoryFilter, field: FilterField): boolean {
  return time === 'range' || !RANGE.includes(field)
}

/** What to ask the server for, on the day that begins at `today`. */
export function toQuery(filter: HistoryFilter, today: number): HistoryQuery {
  const { session, project, tool, outcome, by, kind, search } = filter
  const wanted = { session_id: session, project, tool, outcome, by, kind, search: search.trim() }
  const chosen = Object.entries({ ...wanted, ...times(filter, today) })
  return Object.fromEntries(chosen.filter(([, value]) => value !== ''))
}

function times({ time, from, to }: HistoryFilter, today: number) {
  const back = SPANS[time]
  if (back !== undefined) {
    const first = new Date(today)
    first.setDate(first.getDate() - back)
    return { since: first.toISOString(), until: '' }
  }
  if (time !== 'range') return { since: '', until: '' }
  return { since: instant(`${from}T00:00:00`), until: instant(`${to}T23:59:59.999`) }
}

/** A time of the reader's place; empty when it is none. */
function instant(local: string): string {
  const date = new Date(local)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}

export function startOfDay(now: number): number {
  return new Date(now).setHours(0, 0, 0, 0)
}
