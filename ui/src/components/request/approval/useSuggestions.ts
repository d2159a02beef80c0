import { onScopeDispose, ref, shallowRef, type Ref } from 'vue'

import { errorText } from '../../../data/errors'
import { suggestRules } from '../../../data/rules'
import type { RuleSuggestion } from '../../../protocol.gen'

export interface Suggestions {
  /** Null until the server has answered. */
  suggestions: Readonly<Ref<readonly RuleSuggestion[] | null>>
  problem: Readonly<Ref<string | null>>
  load: () => Promise<void>
}

/** What could be remembered for a request, read when somebody wants to know. */
export function useSuggestions(requestId: string): Suggestions {
  const suggestions = shallowRef<readonly RuleSuggestion[] | null>(null)
  const problem = ref<string | null>(null)
  const stop = new AbortController()

  async function load(): Promise<void> {
    problem.value = null
    try {
      suggestions.value = await suggestRules(requestId, stop.signal)
    } catch (error) {
      problem.value = errorText(error)
    }
  }

  void load()
  onScopeDispose(() => stop.abort())
  return { suggestions, problem, load }
}
