import type { TriedCall, TriedRule } from '../../protocol.gen'

/** What several rules that belong together would do. */
export interface Trial {
  matching: TriedCall[]
  others: TriedCall[]
  /** Open requests that at least one of them would decide. */
  covers: string[]
}

/** Any of the rules makes a match; only what none of them matches is among the others. */
export function combine(tried: readonly TriedRule[]): Trial {
  const matching = unique(tried.flatMap(({ would_match }) => would_match))
  const matched = new Set(matching.map(identity))
  const others = unique(tried.flatMap(({ would_not_match }) => would_not_match))
  return {
    matching,
    others: others.filter((call) => !matched.has(identity(call))),
    covers: [...new Set(tried.flatMap(({ covers }) => covers))],
  }
}

function identity({ tool_name, subject }: TriedCall): string {
  return `${tool_name}\n${subject}`
}

function unique(calls: readonly TriedCall[]): TriedCall[] {
  return [...new Map(calls.map((call) => [identity(call), call])).values()]
}
