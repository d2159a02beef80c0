import { isStringList } from '../../../data/storage'
import type { AddRule, RuleEffect, RuleScope, RuleSuggestion, Session } from '../../../protocol.gen'
import { isTerms, limits, USUAL_TERMS, type ScopeKind, type Terms } from '../../rules/terms'
import { isRecord } from '../../tool/present'

/** What somebody has chosen to remember about a request and not saved. */
export interface RuleDraft {
  /** The key of a suggestion; null stands for the first. */
  chosen: string | null
  /** Rules that were changed, by the suggestion they come from. */
  edits: Record<string, string[]>
  terms: Terms
}

export const NEW_DRAFT: RuleDraft = { chosen: null, edits: {}, terms: USUAL_TERMS }

export function isRuleDraft(value: unknown): value is RuleDraft {
  return (
    isRecord(value) &&
    (value.chosen === null || typeof value.chosen === 'string') &&
    isRecord(value.edits) &&
    Object.values(value.edits).every(isStringList) &&
    isTerms(value.terms)
  )
}

/** Names a suggestion by what it says, so that a draft never meets another one. */
export function suggestionKey({ kind, rules }: RuleSuggestion): string {
  return JSON.stringify([kind, ...rules.map(({ rule }) => rule)])
}

/** What would not allow this very request can only be refused by a rule. */
export function offered(
  suggestions: readonly RuleSuggestion[],
  effect: RuleEffect,
): RuleSuggestion[] {
  return suggestions.filter(({ allows }) => allows || effect !== 'allow')
}

export function scopeIn(kind: ScopeKind, { session_id, cwd }: Session): RuleScope {
  if (kind === 'session') return { kind, session_id }
  return kind === 'project' ? { kind, path: cwd } : { kind }
}

/** What was typed, as it is sent: without blanks around it, and each rule once. */
export function ruleTexts(typed: readonly string[]): string[] {
  return [...new Set(typed.map((text) => text.trim()))]
}

export interface RulesToAdd {
  texts: readonly string[]
  effect: RuleEffect
  scope: RuleScope
  terms: Terms
  reason: string
  /** Rules that are wider than they look, and were confirmed. */
  broad: readonly string[]
  /** Other open requests that shall be decided at once. */
  decide: readonly string[]
}

/** One message for each rule. The last one decides: only then are all of them in force. */
export function rulesToAdd(given: RulesToAdd): AddRule[] {
  const { texts, effect, scope, terms, broad, decide } = given
  const reason = given.reason.trim()
  return texts.map((rule, index) => ({
    rule,
    effect,
    scope,
    ...limits(terms),
    ...(reason === '' ? {} : { reason }),
    ...(broad.includes(rule) ? { confirm_broad: true } : {}),
    ...(decide.length > 0 && index === texts.length - 1 ? { decide: [...decide] } : {}),
  }))
}
