import type { Rule, RuleEffect, RuleScope, SettingsRule } from '../../protocol.gen'
import { isSameScope } from './places'

/** A rule of a settings file, beside what Sayso has already. */
export interface ImportRow {
  /** The same for the same rule, however often the file is read. */
  key: string
  rule: string
  effect: RuleEffect
  tooBroad: string | null
  /** Sayso has this very rule in this very place. */
  isThere: boolean
}

/** Each rule once, in the order of the file. */
export function importRows(
  found: readonly SettingsRule[],
  known: readonly Rule[],
  scope: RuleScope | null,
): ImportRow[] {
  const rows = found.map(({ rule, effect, too_broad }): ImportRow => {
    const isThere = known.some(
      (other) =>
        other.rule === rule &&
        other.effect === effect &&
        scope !== null &&
        isSameScope(other.scope, scope),
    )
    return { key: `${effect} ${rule}`, rule, effect, tooBroad: too_broad, isThere }
  })
  return [...new Map(rows.map((row) => [row.key, row])).values()]
}

/** What is wider than it looks has to be ticked by hand; what is there needs no second one. */
export function isTicked(row: ImportRow, ticks: ReadonlyMap<string, boolean>): boolean {
  return !row.isThere && (ticks.get(row.key) ?? row.tooBroad === null)
}
