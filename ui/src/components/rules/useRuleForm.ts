import { computed, ref } from 'vue'

import { RefusedError } from '../../connection/errors'
import { useClock } from '../../data/clock'
import { errorText } from '../../data/errors'
import type { Limits } from '../../data/ruleLimits'
import { useRules } from '../../data/rules'
import { useServer } from '../../data/server'
import { useSessions } from '../../data/sessions'
import type { Rule } from '../../protocol.gen'
import { fieldsOf, isComplete, ruleFrom, scopeOf } from './ruleFields'
import { amountProblem, limits, limitsAfter } from './terms'
import { useBroadConfirmation } from './useBroadConfirmation'
import { useTrials } from './useTrials'

/** A rule of the rules page while it is written; `rule` is the one that is changed. */
export function useRuleForm(rule: Rule | null) {
  const rules = useRules()
  const clock = useClock()
  const sessions = useSessions()
  const usual = {
    path: useServer().defaults?.cwd ?? '',
    sessionId: sessions.running[0]?.session_id ?? '',
  }
  const before = fieldsOf(rule, usual, clock.now)
  const fields = ref({ ...before })
  const isSaving = ref(false)
  const problem = ref<string | null>(null)
  /** The rule that the server called too broad, with its words. */
  const refused = ref<{ rule: string; why: string } | null>(null)

  const text = computed(() => fields.value.rule.trim())
  const scope = computed(() => scopeOf(fields.value))
  /** Those that run, and the one that is chosen although its agent has ended meanwhile. */
  const sessionChoices = computed(() => {
    const chosen = sessions.get(fields.value.sessionId)
    const isKept = chosen !== null && !sessions.running.includes(chosen)
    return isKept ? [...sessions.running, chosen] : sessions.running
  })
  const trials = useTrials(() =>
    text.value === ''
      ? []
      : [
          {
            rule: text.value,
            effect: fields.value.effect,
            scope: scope.value,
            session_id: null,
          },
        ],
  )
  const answer = computed(() => trials.answers.value.get(text.value))
  const textProblem = computed(() => answer.value?.problem ?? null)
  const broad = computed(() => {
    const known = answer.value?.too_broad
    if (known != null) return [{ rule: text.value, why: known }]
    return refused.value?.rule === text.value ? [refused.value] : []
  })
  const confirmedBefore = rule !== null && rule.too_broad !== null ? [rule.rule] : []
  const isBroadConfirmed = useBroadConfirmation(() => broad.value, confirmedBefore)

  const canSave = computed(
    () =>
      !isSaving.value &&
      text.value !== '' &&
      textProblem.value === null &&
      isComplete(scope.value) &&
      amountProblem(fields.value.terms) === null &&
      isBroadConfirmed.value &&
      (trials.isCurrent.value || trials.failure.value !== null),
  )

  /** The rule may have been used while it was edited. */
  function limitsNow(): Limits {
    const { terms } = fields.value
    if (rule === null) return limits(terms)
    return limitsAfter(terms, before.terms, rules.get(rule.rule_id) ?? rule, clock.now)
  }

  /** True when it is saved. Otherwise everything stays as it was typed. */
  async function save(): Promise<boolean> {
    if (!canSave.value) return false
    isSaving.value = true
    problem.value = null
    const saved = ruleFrom(fields.value, scope.value, limitsNow(), broad.value.length > 0)
    try {
      if (rule === null) await rules.add(saved)
      else await rules.update(rule.rule_id, saved)
      return true
    } catch (error) {
      problem.value = errorText(error)
      if (error instanceof RefusedError && error.code === 'rule_too_broad') {
        refused.value = { rule: saved.rule, why: error.message }
      }
      return false
    } finally {
      isSaving.value = false
    }
  }

  return {
    ...{ fields, sessionChoices, trials, textProblem, broad, isBroadConfirmed },
    ...{ canSave, isSaving, problem, save },
  }
}
