import { computed, onScopeDispose, shallowRef, watch, type ComputedRef, type Ref } from 'vue'

import { errorText } from '../../data/errors'
import { tryRule } from '../../data/rules'
import type { TriedRule, TryRule } from '../../protocol.gen'

/** After the last letter, before the server is asked. */
const PAUSE = 250

export interface Trials {
  /** By the rule's text. */
  answers: Readonly<Ref<ReadonlyMap<string, TriedRule>>>
  /** Every rule was tried as it stands now. */
  isCurrent: ComputedRef<boolean>
  /** Why the rules as they stand now could not be tried. */
  failure: ComputedRef<string | null>
}

interface Result {
  key: string
  failure: string | null
}

/** Tries rules while they are typed. What was asked about an earlier text is ignored. */
export function useTrials(rules: () => readonly TryRule[]): Trials {
  const answers = shallowRef<ReadonlyMap<string, TriedRule>>(new Map())
  const result = shallowRef<Result | null>(null)
  const key = computed(() => JSON.stringify(rules()))
  const isDone = computed(() => result.value?.key === key.value)
  let timer: ReturnType<typeof setTimeout>
  let asking: AbortController | null = null

  async function ask(asked: string): Promise<void> {
    const current = new AbortController()
    asking = current
    try {
      const found = await Promise.all(
        rules().map(async (rule) => [rule.rule, await tryRule(rule, current.signal)] as const),
      )
      if (asking !== current) return
      answers.value = new Map(found)
      result.value = { key: asked, failure: null }
    } catch (error) {
      if (asking === current) result.value = { key: asked, failure: errorText(error) }
    }
  }

  function drop(): void {
    clearTimeout(timer)
    const unfinished = asking
    asking = null
    unfinished?.abort()
  }

  watch(
    key,
    (now) => {
      drop()
      if (rules().length > 0) timer = setTimeout(() => void ask(now), PAUSE)
    },
    { immediate: true },
  )
  onScopeDispose(drop)

  return {
    answers,
    isCurrent: computed(() => isDone.value && result.value?.failure === null),
    failure: computed(() => (isDone.value ? (result.value?.failure ?? null) : null)),
  }
}
