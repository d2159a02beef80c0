import type { Session, SessionState } from '../../protocol.gen'
import { visible } from '../../text/visible'

export const STATE_WORDS: Record<SessionState, string> = {
  starting: 'Starting',
  assistant_turn: 'Working',
  user_turn: 'Your turn',
  dead: 'Ended',
}

export function sessionTitle(session: Session): string {
  return visible(session.title.trim() || 'New session', 'prose')
}
