import { getJson } from '../connection/rest'
import type { HistoryCheck, HistoryDetail, HistoryPage } from '../protocol.gen'

/**
 * What of the history is asked for, in the server's names: `session_id`,
 * `project`, `tool`, `outcome`, `by`, `kind`, `since`, `until`, `search`.
 */
export type HistoryQuery = Readonly<Record<string, string>>

/** Enough for some screens; more come when they are asked for. */
const PAGE = 50

/** A page of the history, the newest first. */
export function fetchHistory(
  query: HistoryQuery,
  before: number | null,
  signal?: AbortSignal,
): Promise<HistoryPage> {
  const place: Record<string, number> = before === null ? {} : { before }
  return getJson('/api/history', { ...query, ...place, limit: PAGE }, signal)
}

/** One entry, whole. */
export function fetchHistoryEntry(seq: number, signal?: AbortSignal): Promise<HistoryDetail> {
  return getJson(`/api/history/${seq}`, {}, signal)
}

/** Reads all of it and says whether it still is what was written. */
export function checkHistory(signal?: AbortSignal): Promise<HistoryCheck> {
  return getJson('/api/history/check', {}, signal)
}

export type ExportFormat = 'jsonl' | 'csv'

/** Where the browser gets what is in view as a file. */
export function exportAddress(format: ExportFormat, query: HistoryQuery): string {
  return `/api/history/export?${new URLSearchParams({ format, ...query })}`
}
