import type { Session, SessionState } from '../../protocol.gen'
import { shortPath } from '../../text/paths'
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

/** A folder as people say it: from the home folder on, shortened in the middle. */
export function folderText(cwd: string, longest = 36): string {
  return shortPath(visible(cwd).replace(/^\/(?:(?:home|Users)\/[^/]+|root)(?=\/|$)/, '~'), longest)
}
