import type { TranscriptEntry } from '../../protocol.gen'

/**
 * True when the last turn never ended, and the agent was lost while a request
 * waited in it. Whatever was noted after that does not change it.
 */
export function isCutOff(entries: readonly TranscriptEntry[]): boolean {
  const last = entries.findLast(
    (entry) =>
      entry.kind === 'user_message' ||
      entry.kind === 'turn_ended' ||
      (entry.kind === 'decision' && entry.outcome.what === 'orphaned'),
  )
  return last?.kind === 'decision'
}
