import type { DecidedBy, Outcome, OutcomeKind } from '../protocol.gen'
import { visible } from './visible'

const WHAT: Record<OutcomeKind, string> = {
  allowed: 'Allowed',
  denied: 'Denied',
  answered: 'Answered',
  expired: 'No answer in time',
  withdrawn: 'Withdrawn',
  orphaned: 'The agent was lost',
}

const BY: Record<DecidedBy, string> = {
  human: '',
  rule: ' by a rule',
  mode: ' by the permission mode',
  timeout: '',
  policy: ' by policy',
  agent: ' by the agent',
}

/** "Allowed by you", "Denied by Chrome on Linux", "No answer in time". */
export function outcomeText(outcome: Outcome, isOwnClient: (clientId: string) => boolean): string {
  const what = WHAT[outcome.what]
  const edited = outcome.edited ? ', edited' : ''
  return `${what}${byWhom(outcome, isOwnClient)}${edited}${deliveryText(outcome)}`
}

function byWhom({ what, by, client }: Outcome, isOwnClient: (clientId: string) => boolean): string {
  if (what === 'expired' || what === 'orphaned') return ''
  if (client === null) return BY[by]
  return isOwnClient(client.client_id) ? ' by you' : ` by ${visible(client.label)}`
}

function deliveryText({ delivery }: Outcome): string {
  if (delivery === 'too_late') return ' (too late for the agent)'
  if (delivery === 'failed') return ' (could not be delivered to the agent)'
  return ''
}
