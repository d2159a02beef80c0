import type { PendingRequest } from '../../protocol.gen'
import type { Side } from '../swipe/swipe'

/** Why something wants its own deliberate press. */
export type Reason = 'answer' | 'risky' | 'unfaithful' | 'unread'

/** What can be allowed in passing (in a group, by a swipe): read as a whole, not risky, no question. */
export function reasonAgainst(request: PendingRequest, seen: ReadonlySet<string>): Reason | null {
  if (request.request_type !== 'tool_approval' || request.requires_user_interaction) return 'answer'
  if (request.destructive || request.default_to_no) return 'risky'
  if (!request.input_faithful) return 'unfaithful'
  return seen.has(request.request_id) ? null : 'unread'
}

const WORDS: Record<Reason, string> = {
  answer: 'A swipe does not answer this. Use its buttons.',
  risky: 'A swipe does not decide what cannot be taken back. Use its buttons.',
  unfaithful: 'It cannot be shown exactly, so it cannot be allowed.',
  unread: 'Read it to the end first, then swipe.',
}
/** These are not for swipes at all; the others can still be denied. */
const BOTH: ReadonlySet<Reason> = new Set(['answer', 'risky'])

/** Why a request cannot be swiped to this side, in words; null where it can. */
export function swipeBar(
  request: PendingRequest,
  side: Side,
  seen: ReadonlySet<string>,
): string | null {
  const reason = reasonAgainst(request, seen)
  return reason === null || (side === 'left' && !BOTH.has(reason)) ? null : WORDS[reason]
}
