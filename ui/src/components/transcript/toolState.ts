import type { ToolRow } from '../../data/arrange'

/** How far a tool call got. */
export type ToolState = 'running' | 'waiting' | 'done' | 'failed' | 'refused' | 'stopped'

export function toolState(row: ToolRow, atWork: boolean, waiting: ReadonlySet<string>): ToolState {
  const last = row.decisions.at(-1)?.outcome.what
  const isRefused = last !== undefined && last !== 'allowed' && last !== 'answered'
  if (row.result === null) {
    if (waiting.has(row.entry.tool_use_id)) return 'waiting'
    if (isRefused) return 'refused'
    return atWork ? 'running' : 'stopped'
  }
  if (!row.result.is_error) return 'done'
  return isRefused ? 'refused' : 'failed'
}

/** For those who cannot see the icon, and for the end of the line where it matters. */
export const STATE_WORDS: Record<ToolState, string> = {
  running: 'running',
  waiting: 'waits for you',
  done: 'done',
  failed: 'failed',
  refused: 'not run',
  stopped: 'no result',
}
