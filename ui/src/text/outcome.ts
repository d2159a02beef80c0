import type { DecidedBy, Outcome, OutcomeKind } from '../protocol.gen'
import { visible } from './visible'

const WHAT: Record<OutcomeKind, string> = {
  allowed: 'Allowed',
  denied: 'Denied',
  answered: 'Answered',
  expired: 'No answer in time',
  withdrawn: 'Withdrawn',
  orphaned: 'Not answered',
}

const BY: Record<DecidedBy, string> = {
  human: '',
  rule: ' by a rule',
  mode: ' by the permission mode',
  timeout: '',
  policy: ' by policy',
  agent: ' by the agent',
}

/** "Allowed by you", "Denied by you on Pixel 8", "No answer in 5 min". */
export function outcomeText(outcome: Outcome, isOwnClient: (clientId: string) => boolean): string {
  const what = outcome.what === 'expired' ? expiredText(outcome) : WHAT[outcome.what]
  const edited = outcome.edited ? ', edited' : ''
  return `${what}${byWhom(outcome, isOwnClient)}${edited}${deliveryText(outcome)}`
}

/** The human's reason; what Sayso tells agents for other refusals is not news to people. */
export function reasonText({ what, by, message }: Outcome): string | null {
  return what === 'denied' && by === 'human' ? message : null
}

function byWhom(outcome: Outcome, isOwnClient: (clientId: string) => boolean): string {
  const { what, by, by_name: name, client } = outcome
  if (what === 'expired' || what === 'orphaned') return ''
  if (client !== null) {
    return isOwnClient(client.client_id) ? ' by you' : ` by you on ${visible(client.label)}`
  }
  if (by === 'rule' && name !== undefined) return ` by rule ${visible(name)}`
  if (by === 'policy' && name === 'auto_approve') return ' automatically: nobody was asked'
  if (by === 'mode' && name !== undefined) return ` by mode ${spelled(visible(name))}`
  return BY[by]
}

/** `acceptEdits` as people say it. */
export function spelled(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The agent was told how long nobody answered; the words for people are shorter. */
function expiredText({ message }: Outcome): string {
  const waited = /within (\d+) (second|minute)/.exec(message ?? '')
  if (waited === null) return WHAT.expired
  return `No answer in ${waited[1]} ${waited[2] === 'minute' ? 'min' : 's'}`
}

function deliveryText({ delivery }: Outcome): string {
  if (delivery === 'too_late') return ' (too late for the agent)'
  if (delivery === 'failed') return ' (could not be delivered to the agent)'
  return ''
}
