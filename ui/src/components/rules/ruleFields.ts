import type { Limits } from '../../data/ruleLimits'
import type { AddRule, Rule, RuleEffect, RuleScope } from '../../protocol.gen'
import { termsOf, USUAL_TERMS, type ScopeKind, type Terms } from './terms'

/** A rule as the form of the rules page holds it. */
export interface RuleFields {
  rule: string
  effect: RuleEffect
  terms: Terms
  /** The project's folder. */
  path: string
  /** Empty when there is none to choose. */
  sessionId: string
  reason: string
  matches: string[]
  matchesNot: string[]
}

/** What stands in the fields for the place of a rule that has none yet. */
export type UsualPlace = Pick<RuleFields, 'path' | 'sessionId'>

/** The fields of a rule that is there, or of a new one. */
export function fieldsOf(rule: Rule | null, usual: UsualPlace, now: number): RuleFields {
  if (rule === null) {
    const empty = { rule: '', reason: '', matches: [], matchesNot: [] }
    return { ...empty, ...usual, effect: 'allow', terms: USUAL_TERMS }
  }
  return {
    rule: rule.rule,
    effect: rule.effect,
    terms: termsOf(rule, now),
    path: rule.scope.kind === 'project' ? rule.scope.path : usual.path,
    sessionId: rule.scope.kind === 'session' ? rule.scope.session_id : usual.sessionId,
    reason: rule.reason ?? '',
    matches: rule.matches,
    matchesNot: rule.matches_not,
  }
}

/** A session can be chosen where there is one. */
export function scopesFor(sessions: number): ScopeKind[] {
  return sessions > 0 ? ['session', 'project', 'everywhere'] : ['project', 'everywhere']
}

export function scopeOf({ terms, path, sessionId }: RuleFields): RuleScope {
  switch (terms.scope) {
    case 'session':
      return { kind: 'session', session_id: sessionId }
    case 'project':
      return { kind: 'project', path: path.trim() }
    case 'everywhere':
      return { kind: 'everywhere' }
  }
}

/** A place that somebody has named. */
export function isComplete(scope: RuleScope): boolean {
  switch (scope.kind) {
    case 'session':
      return scope.session_id !== ''
    case 'project':
      return scope.path !== ''
    case 'everywhere':
      return true
  }
}

/** What is sent. */
export function ruleFrom(
  fields: RuleFields,
  scope: RuleScope,
  limits: Limits,
  confirmed: boolean,
): AddRule {
  const reason = fields.reason.trim()
  const matches = samples(fields.matches)
  const matches_not = samples(fields.matchesNot)
  return {
    rule: fields.rule.trim(),
    effect: fields.effect,
    scope,
    ...limits,
    ...(reason === '' ? {} : { reason }),
    ...(matches.length > 0 ? { matches } : {}),
    ...(matches_not.length > 0 ? { matches_not } : {}),
    ...(confirmed ? { confirm_broad: true } : {}),
  }
}

function samples(typed: readonly string[]): string[] {
  return typed.map((sample) => sample.trim()).filter((sample) => sample !== '')
}
