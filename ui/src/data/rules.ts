import { defineStore } from 'pinia'
import { shallowRef } from 'vue'

import { postJson } from '../connection/rest'
import { getJson } from '../connection/rest'
import type {
  AddRule,
  Rule,
  RuleSuggestion,
  RuleSuggestions,
  TestCall,
  TestedCall,
  TriedRule,
  TryRule,
} from '../protocol.gen'
import { useClock } from './clock'
import { sameRule } from './ruleLimits'
import { useServer } from './server'

/** How long a removal can be taken back. */
const UNDO_FOR = 15_000

/** What could be remembered for an open request, the narrowest first. */
export async function suggestRules(
  requestId: string,
  signal?: AbortSignal,
): Promise<RuleSuggestion[]> {
  const path = `/api/requests/${encodeURIComponent(requestId)}/rules`
  const { suggestions } = await getJson<RuleSuggestions>(path, {}, signal)
  return suggestions
}

/** What a rule would do. */
export function tryRule(rule: TryRule, signal?: AbortSignal): Promise<TriedRule> {
  return postJson('/api/rules/try', rule, signal)
}

/** What the rules would say to a call, and why. */
export function testCall(call: TestCall, signal?: AbortSignal): Promise<TestedCall> {
  return postJson('/api/rules/test', call, signal)
}

/** The remembered decisions, as the server keeps them. */
export const useRules = defineStore('rules', () => {
  const server = useServer()
  const clock = useClock()
  const list = shallowRef<readonly Rule[]>([])
  /** Removed here a moment ago. */
  const removed = shallowRef<readonly Rule[]>([])

  function replaceAll(rules: readonly Rule[]): void {
    list.value = rules
  }

  /** A rule that is not there any more does not come back by having been used. */
  function replace(rule: Rule): void {
    put(rule.rule_id, rule)
  }

  function get(ruleId: string): Rule | null {
    return list.value.find(({ rule_id }) => rule_id === ruleId) ?? null
  }

  async function add(rule: AddRule): Promise<string> {
    const { rule_id } = await server.ask({ type: 'add_rule', ...rule })
    if (rule_id === undefined) throw new Error('Sayso added a rule without an id.')
    return rule_id
  }

  async function update(rule_id: string, rule: AddRule): Promise<void> {
    await server.ask({ type: 'update_rule', rule_id, rule })
  }

  /** Shows the change at once, and takes it back if the server refuses it. */
  async function enable(rule_id: string, enabled: boolean): Promise<void> {
    put(rule_id, { enabled })
    try {
      await server.ask({ type: 'enable_rule', rule_id, enabled })
    } catch (error) {
      put(rule_id, { enabled: !enabled })
      throw error
    }
  }

  async function remove(rule: Rule): Promise<void> {
    removed.value = [...removed.value, rule]
    try {
      await server.ask({ type: 'remove_rule', rule_id: rule.rule_id })
    } catch (error) {
      forgetRemoved(rule)
      throw error
    }
    setTimeout(() => forgetRemoved(rule), UNDO_FOR)
  }

  /** Adds a removed rule again. What it did before is not counted any more. */
  async function undo(rule: Rule): Promise<void> {
    forgetRemoved(rule)
    try {
      await add(sameRule(rule, clock.now))
    } catch (error) {
      removed.value = [...removed.value, rule]
      throw error
    }
  }

  function put(ruleId: string, change: Partial<Rule>): void {
    list.value = list.value.map((rule) => (rule.rule_id === ruleId ? { ...rule, ...change } : rule))
  }

  function forgetRemoved({ rule_id }: Rule): void {
    removed.value = removed.value.filter((other) => other.rule_id !== rule_id)
  }

  return { list, removed, replaceAll, replace, get, add, update, enable, remove, undo }
})
