import type { Session } from '@ui/protocol.gen'

const MOST = 20

/** Those that a message can reach: the open one first, then the last that did something. */
export function sessionsToSendTo(sessions: readonly Session[], openId: string): Session[] {
  const weight = ({ session_id, state }: Session): number =>
    session_id === openId ? 2 : state === 'dead' ? 0 : 1
  return sessions
    .filter(({ archived, state, can_resume }) => !archived && (state !== 'dead' || can_resume))
    .sort(
      (a, b) =>
        weight(b) - weight(a) || Date.parse(b.state_changed_at) - Date.parse(a.state_changed_at),
    )
    .slice(0, MOST)
}
