import type { AddRule, Rule } from '../protocol.gen'

export type Limits = Pick<AddRule, 'uses' | 'minutes'>

/** It answers nothing any more, however long it stays in the list. */
export function isSpent(rule: Rule, now: number): boolean {
  return rule.uses_left === 0 || hasExpired(rule, now)
}

export function hasExpired({ expires_at }: Rule, now: number): boolean {
  return expires_at !== null && Date.parse(expires_at) <= now
}

/** What is left of a rule, as it is asked for: a minute that has begun counts. */
export function limitsLeft({ uses_left, expires_at }: Rule, now: number): Limits {
  const minutes = expires_at === null ? null : Math.ceil((Date.parse(expires_at) - now) / 60_000)
  return {
    ...(uses_left === null ? {} : { uses: Math.max(1, uses_left) }),
    ...(minutes === null ? {} : { minutes: Math.max(1, minutes) }),
  }
}

/** A rule that was there, to be added once more with what is left of it. */
export function sameRule(rule: Rule, now: number): AddRule {
  return {
    rule: rule.rule,
    effect: rule.effect,
    scope: rule.scope,
    ...limitsLeft(rule, now),
    ...(rule.reason === null ? {} : { reason: rule.reason }),
    ...(rule.matches.length > 0 ? { matches: rule.matches } : {}),
    ...(rule.matches_not.length > 0 ? { matches_not: rule.matches_not } : {}),
    // Somebody has confirmed it before.
    ...(rule.too_broad === null ? {} : { confirm_broad: true }),
    // In one step: a moment of being on is enough to allow something.
    ...(rule.enabled ? {} : { enabled: false }),
  }
}
