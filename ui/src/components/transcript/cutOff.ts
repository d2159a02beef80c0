import type { OutcomeKind, Session, TranscriptEntry } from '../../protocol.gen'

/** How requests end when nobody is left to hear the answer. */
const ENDED_WITH_AGENT: ReadonlySet<OutcomeKind> = new Set(['orphaned', 'withdrawn'])

/**
 * True when the last turn never ended, and the agent was lost or ended while a
 * request waited in it, or failed before it did anything with an answer.
 * Whatever was noted after that does not change it; an agent that took a
 * request back and went on was not cut off there.
 */
export function isCutOff(session: Session, entries: readonly TranscriptEntry[]): boolean {
  const hasFailed = session.error !== undefined
  const last = entries.findLast(
    (entry) =>
      entry.kind === 'user_message' ||
      entry.kind === 'turn_ended' ||
      entry.kind === 'assistant_text' ||
      entry.kind === 'thinking' ||
      entry.kind === 'tool_use' ||
      entry.kind === 'tool_result' ||
      (entry.kind === 'decision' && (hasFailed || ENDED_WITH_AGENT.has(entry.outcome.what))),
  )
  return last?.kind === 'decision'
}
