import { isSpent, limitsLeft, type Limits } from '../../data/ruleLimits'
import type { Rule, RuleScope } from '../../protocol.gen'
import { isRecord } from '../tool/present'

export type ScopeKind = RuleScope['kind']

export const LIFETIMES = ['once', 'uses', 'minutes', 'session', 'forever'] as const
export type Lifetime = (typeof LIFETIMES)[number]

/** Where and for how long a rule answers, as a form holds it. */
export interface Terms {
  scope: ScopeKind
  lifetime: Lifetime
  /** Kept while another lifetime is chosen; 0 while nothing that counts is typed. */
  uses: number
  minutes: number
}

export const USUAL_TERMS: Terms = { scope: 'project', lifetime: 'forever', uses: 5, minutes: 15 }

/** The server counts in 32 bits; a year of minutes is enough for everybody. */
export const MOST = { uses: 1_000_000, minutes: 525_600 }

const SCOPES: readonly unknown[] = ['session', 'project', 'everywhere'] satisfies ScopeKind[]

export function isTerms(value: unknown): value is Terms {
  return (
    isRecord(value) &&
    SCOPES.includes(value.scope) &&
    LIFETIMES.some((lifetime) => lifetime === value.lifetime) &&
    typeof value.uses === 'number' &&
    typeof value.minutes === 'number'
  )
}

/** What belongs to a session ends with it; "for good" would not be true of it. */
export function withScope(terms: Terms, scope: ScopeKind): Terms {
  if (scope === 'session' && terms.lifetime === 'forever') {
    return { ...terms, scope, lifetime: 'session' }
  }
  if (scope !== 'session' && terms.lifetime === 'session') {
    return { ...terms, scope, lifetime: 'forever' }
  }
  return { ...terms, scope }
}

/** "Until the session ends" is the session's scope, and nothing of it outlives the session. */
export function withLifetime(terms: Terms, lifetime: Lifetime): Terms {
  if (lifetime === 'session') return { ...terms, lifetime, scope: 'session' }
  if (lifetime === 'forever' && terms.scope === 'session') {
    return { ...terms, lifetime, scope: 'project' }
  }
  return { ...terms, lifetime }
}

export function limits({ lifetime, uses, minutes }: Terms): Limits {
  switch (lifetime) {
    case 'once':
      return { uses: 1 }
    case 'uses':
      return { uses }
    case 'minutes':
      return { minutes }
    case 'session':
    case 'forever':
      return {}
  }
}

/** What is wrong with the amount, when there is one. */
export function amountProblem({ lifetime, ...amounts }: Terms): string | null {
  if (lifetime !== 'uses' && lifetime !== 'minutes') return null
  const amount = amounts[lifetime]
  if (Number.isInteger(amount) && amount >= 1 && amount <= MOST[lifetime]) return null
  return `Enter a whole number of ${lifetime}, from 1 to ${MOST[lifetime].toLocaleString('en')}.`
}

/** The terms of a rule that is there. One that is spent begins anew. */
export function termsOf(rule: Rule, now: number): Terms {
  const left = isSpent(rule, now) ? {} : limitsLeft(rule, now)
  const terms = {
    ...USUAL_TERMS,
    scope: rule.scope.kind,
    uses: left.uses ?? USUAL_TERMS.uses,
    minutes: left.minutes ?? USUAL_TERMS.minutes,
  }
  if (rule.uses_left !== null) return { ...terms, lifetime: left.uses === 1 ? 'once' : 'uses' }
  if (rule.expires_at !== null) return { ...terms, lifetime: 'minutes' }
  return withScope(terms, rule.scope.kind)
}

/**
 * The limits of a rule that was changed. A lifetime that nobody touched goes on
 * from where the rule is now, with whatever limits it has.
 */
export function limitsAfter(terms: Terms, before: Terms, rule: Rule, now: number): Limits {
  const isTouched = JSON.stringify(limits(terms)) !== JSON.stringify(limits(before))
  return isTouched || isSpent(rule, now) ? limits(terms) : limitsLeft(rule, now)
}
