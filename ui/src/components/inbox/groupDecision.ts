import type { PendingRequest } from '../../protocol.gen'
import { reasonAgainst, type Reason } from '../request/easyAllow'

/** What can be done with several requests at once. Each is still decided on its own. */
export interface GroupDecision {
  deny: readonly PendingRequest[]
  allow: readonly PendingRequest[]
  /** Why the others cannot be allowed together, in words with their number. */
  leftOut: readonly string[]
}

const WORDS: Record<Reason, (count: number) => string> = {
  answer: (count) => (count === 1 ? '1 needs its own answer' : `${count} need their own answers`),
  unfaithful: (count) => `${count} not shown exactly`,
  risky: (count) => `${count} risky`,
  unread: (count) => `${count} not read yet`,
}

/** Allowing takes what was read as a whole and is neither risky nor a question; denying takes all. */
export function groupDecision(
  selected: readonly PendingRequest[],
  seen: ReadonlySet<string>,
): GroupDecision {
  const allow: PendingRequest[] = []
  const counts = new Map<Reason, number>()
  for (const request of selected) {
    const reason = reasonAgainst(request, seen)
    if (reason === null) allow.push(request)
    else counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  const leftOut = [...counts].map(([reason, count]) => WORDS[reason](count))
  return { deny: selected, allow, leftOut }
}
