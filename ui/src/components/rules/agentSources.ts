import type { AgentRule } from '../../protocol.gen'

/** The places where an agent's own rules stand; what weighs most comes first. */
const SOURCES: readonly (readonly [source: string, title: string])[] = [
  ['policySettings', 'Managed by your organisation'],
  ['userSettings', 'Your settings'],
  ['projectSettings', 'Project settings'],
  ['localSettings', 'Project settings, only you'],
  ['flagSettings', 'Given by Sayso'],
  ['cliArg', 'Given on the command line'],
  ['command', 'Given by a command'],
  ['session', 'This session'],
]
const ORDER = SOURCES.map(([source]) => source)
const TITLES = new Map(SOURCES)

export interface RuleSource {
  source: string
  /** Null of a place that Sayso has no words for. */
  title: string | null
  rules: readonly AgentRule[]
}

/** By place. The rules of each stay in the agent's order. */
export function bySource(rules: readonly AgentRule[]): RuleSource[] {
  const found = [...new Set(rules.map(({ source }) => source))]
  return found
    .sort((one, other) => weight(one) - weight(other))
    .map((source) => ({
      source,
      title: TITLES.get(source) ?? null,
      rules: rules.filter((rule) => rule.source === source),
    }))
}

function weight(source: string): number {
  const index = ORDER.indexOf(source)
  return index < 0 ? ORDER.length : index
}
