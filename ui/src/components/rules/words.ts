import { hasExpired } from '../../data/ruleLimits'
import type { Rule, RuleEffect, RuleScope, RuleSuggestionKind, Session } from '../../protocol.gen'
import { countText } from '../../text/amounts'
import { timeOfDay } from '../../text/time'
import { folderText, sessionTitle } from '../session/words'
import type { Lifetime, ScopeKind } from './terms'

export const EFFECTS: Record<RuleEffect, string> = { allow: 'Allow', ask: 'Ask', deny: 'Deny' }

export const SCOPES: Record<ScopeKind, string> = {
  session: 'this session',
  project: 'this project',
  everywhere: 'everywhere',
}

/** Where nobody is in a session or a project. */
export const SCOPES_ANYWHERE: Record<ScopeKind, string> = {
  session: 'one session',
  project: 'one project',
  everywhere: 'everywhere',
}

export const LIFETIME_WORDS: Record<Lifetime, string> = {
  once: 'once more',
  uses: 'for a number of uses',
  minutes: 'for minutes',
  session: 'until this session ends',
  forever: 'for good',
}

const SUGGESTIONS: Record<RuleSuggestionKind, string> = {
  exact: 'Exactly this',
  prefix: 'Everything that begins like this',
  folder: 'Everything in this folder',
  domain: 'Everything from this site',
  agent: 'This subagent',
  server: 'Every tool of this server',
  tool: 'Everything that this tool does',
}

/** What would be remembered; of a command, each part has a rule. */
export function suggestionText(kind: RuleSuggestionKind, rules: number): string {
  if (rules < 2) return SUGGESTIONS[kind]
  return kind === 'exact'
    ? 'Exactly these parts of the command'
    : 'Everything that begins like these parts'
}

/** Where a rule answers. */
export function scopeText(scope: RuleScope, session: Session | null): string {
  switch (scope.kind) {
    case 'session':
      return session === null ? 'in a session' : `in the session “${sessionTitle(session)}”`
    case 'project':
      return `in ${folderText(scope.path)}`
    case 'everywhere':
      return 'everywhere'
  }
}

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/** What is left of a rule: `3 uses left`, `until 14:02`, `for good`. */
export function lifetimeText(rule: Rule, now: number): string {
  if (hasExpired(rule, now)) return 'expired'
  if (rule.uses_left === 0) return 'used up'
  const parts = [
    ...(rule.uses_left === null ? [] : [`${countText(rule.uses_left, 'use')} left`]),
    ...(rule.expires_at === null ? [] : [`until ${untilText(rule.expires_at, now)}`]),
  ]
  if (parts.length > 0) return parts.join(', ')
  return rule.scope.kind === 'session' ? 'until the session ends' : 'for good'
}

function untilText(at: string, now: number): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString()
  return isToday ? timeOfDay(at) : `${DATE.format(new Date(at))}, ${timeOfDay(at)}`
}

export function hitsText({ hits }: Rule): string {
  return hits === 0 ? 'not used yet' : `used ${countText(hits, 'time')}`
}
