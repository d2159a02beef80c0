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
  reason: string
  matches: string[]
  matchesNot: string[]
}

/** The fields of a rule that is there, or of a new one. */
export function fieldsOf(rule: Rule | null, folder: string, now: number): RuleFields {
  if (rule === null) {
    const empty = { rule: '', reason: '', matches: [], matchesNot: [] }
    return { ...empty, effect: 'allow', terms: USUAL_TERMS, path: folder }
  }
  return {
    rule: rule.rule,
    effect: rule.effect,
    terms: termsOf(rule, now),
    path: rule.scope.kind === 'project' ? rule.scope.path : folder,
    reason: rule.reason ?? '',
    matches: rule.matches,
    matchesNot: rule.matches_not,
  }
}

/** A session can only be kept; there is no choosing one here. */
export function scopesFor(rule: Rule | null): ScopeKind[] {
  return rule?.scope.kind === 'session'
    ? ['session', 'project', 'everywhere']
    : ['project', 'everywhere']
}

export function scopeOf({ terms, path }: RuleFields, rule: Rule | null): RuleScope {
  if (terms.scope === 'session' && rule?.scope.kind === 'session') return rule.scope
  return terms.scope === 'everywhere'
    ? { kind: 'everywhere' }
    : { kind: 'project', path: path.trim() }
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
