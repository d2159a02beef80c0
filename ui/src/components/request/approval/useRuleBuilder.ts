import { computed, ref, shallowRef, type Ref } from 'vue'

import { RefusedError } from '../../../connection/errors'
import { errorText } from '../../../data/errors'
import { useRequestDraft } from '../../../data/requestDrafts'
import { useRequests } from '../../../data/requests'
import { useRules } from '../../../data/rules'
import type { PendingRequest, RuleEffect, Session } from '../../../protocol.gen'
import { amountProblem } from '../../rules/terms'
import { combine } from '../../rules/trials'
import { useBroadConfirmation } from '../../rules/useBroadConfirmation'
import { useTrials } from '../../rules/useTrials'
import {
  isRuleDraft,
  NEW_DRAFT,
  offered,
  ruleTexts,
  rulesToAdd,
  scopeIn,
  suggestionKey,
} from './ruleDraft'
import { useSuggestions } from './useSuggestions'

/** Makes rules out of one request: what they say, what they would do, and saving them. */
export function useRuleBuilder(
  request: PendingRequest,
  session: Session,
  effect: RuleEffect,
  reason: Readonly<Ref<string>>,
) {
  const rules = useRules()
  const requests = useRequests()
  const draft = useRequestDraft(request.request_id, `rule-${effect}`, NEW_DRAFT, isRuleDraft)
  const { suggestions, problem: loadProblem, load } = useSuggestions(request.request_id)
  /** Saved by an attempt that failed later; they are not sent twice. */
  const saved = shallowRef<ReadonlySet<string>>(new Set())
  const refusedAsBroad = shallowRef<ReadonlyMap<string, string>>(new Map())
  const decide = ref<string[]>([])
  const isSaving = ref(false)
  const problem = ref<string | null>(null)

  const rows = computed(() => offered(suggestions.value ?? [], effect))
  const chosen = computed(
    () => rows.value.find((row) => suggestionKey(row) === draft.value.chosen) ?? rows.value[0],
  )
  const typed = computed({
    get: () => (chosen.value === undefined ? [] : typedFor(suggestionKey(chosen.value))),
    set: (texts) => {
      if (chosen.value !== undefined) draft.value.edits[suggestionKey(chosen.value)] = texts
    },
  })
  const texts = computed(() => ruleTexts(typed.value))
  const scope = computed(() => scopeIn(draft.value.terms.scope, session))

  const trials = useTrials(() =>
    texts.value
      .filter((text) => text !== '')
      .map((rule) => ({
        rule,
        with: texts.value.filter((other) => other !== rule && other !== ''),
        effect,
        scope: scope.value,
        session_id: session.session_id,
      })),
  )
  const tried = computed(() => texts.value.flatMap((text) => trials.answers.value.get(text) ?? []))
  const trial = computed(() => combine(tried.value))
  /** Other open requests that the rules would decide. */
  const covered = computed(() =>
    requests.open.filter(
      ({ request_id }) =>
        request_id !== request.request_id && trial.value.covers.includes(request_id),
    ),
  )

  const broad = computed(() =>
    texts.value.flatMap((rule) => {
      const why = whyBroad(rule)
      return why === null || saved.value.has(rule) ? [] : [{ rule, why }]
    }),
  )
  const isBroadConfirmed = useBroadConfirmation(() => broad.value)

  const canSave = computed(
    () =>
      !isSaving.value &&
      texts.value.length > 0 &&
      texts.value.every((text) => text !== '' && problemOf(text) === null) &&
      amountProblem(draft.value.terms) === null &&
      isBroadConfirmed.value &&
      // The server looks at the rules again, so a trial that failed is no obstacle.
      (trials.isCurrent.value || trials.failure.value !== null),
  )

  function typedFor(key: string): string[] {
    const row = rows.value.find((other) => suggestionKey(other) === key)
    return draft.value.edits[key] ?? row?.rules.map(({ rule }) => rule) ?? []
  }

  function problemOf(text: string): string | null {
    return trials.answers.value.get(text.trim())?.problem ?? null
  }

  function whyBroad(text: string): string | null {
    const suggested = chosen.value?.rules.find(({ rule }) => rule === text)?.too_broad
    const answer = trials.answers.value.get(text)
    return answer?.too_broad ?? suggested ?? refusedAsBroad.value.get(text) ?? null
  }

  /** True when every rule is saved. What was saved before a failure stays saved. */
  async function save(): Promise<boolean> {
    if (!canSave.value) return false
    isSaving.value = true
    problem.value = null
    const isCovered = new Set(covered.value.map(({ request_id }) => request_id))
    const messages = rulesToAdd({
      texts: texts.value.filter((text) => !saved.value.has(text)),
      effect,
      scope: scope.value,
      terms: draft.value.terms,
      reason: reason.value,
      broad: broad.value.map(({ rule }) => rule),
      decide: decide.value.filter((id) => isCovered.has(id)),
    })
    try {
      for (const message of messages) {
        await rules.add(message).catch((error: unknown) => refused(message.rule, error))
        saved.value = new Set(saved.value).add(message.rule)
      }
      return true
    } catch (error) {
      problem.value = errorText(error)
      return false
    } finally {
      isSaving.value = false
    }
  }

  function refused(rule: string, error: unknown): never {
    if (error instanceof RefusedError && error.code === 'rule_too_broad') {
      refusedAsBroad.value = new Map(refusedAsBroad.value).set(rule, error.message)
    }
    throw error
  }

  return {
    draft,
    suggestions,
    loadProblem,
    load,
    rows,
    chosen,
    typed,
    typedFor,
    saved,
    trials,
    trial,
    covered,
    decide,
    broad,
    isBroadConfirmed,
    canSave,
    isSaving,
    problem,
    problemOf,
    save,
  }
}
