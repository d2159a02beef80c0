import type { Rule, RuleEffect } from '../../protocol.gen'

/** A rule in the list, or the place of one that was removed a moment ago. */
export interface RuleRow {
  rule: Rule
  isRemoved: boolean
}

/** The newest first. What was just removed keeps its place for as long as it can come back. */
export function ruleRows(rules: readonly Rule[], removed: readonly Rule[]): RuleRow[] {
  const gone = new Set(removed.map(({ rule_id }) => rule_id))
  const rows = [
    ...rules
      .filter(({ rule_id }) => !gone.has(rule_id))
      .map((rule) => ({ rule, isRemoved: false })),
    ...removed.map((rule) => ({ rule, isRemoved: true })),
  ]
  return rows.sort(
    (one, other) => Date.parse(other.rule.created_at) - Date.parse(one.rule.created_at),
  )
}

/** Every word must be somewhere in the rule: its text, its reason, its folder or who made it. */
export function fits(rule: Rule, text: string, effect: RuleEffect | 'all'): boolean {
  if (effect !== 'all' && rule.effect !== effect) return false
  const path = rule.scope.kind === 'project' ? rule.scope.path : rule.scope.kind
  const all = [rule.rule, rule.reason ?? '', path, rule.created_by].join('\n').toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}
