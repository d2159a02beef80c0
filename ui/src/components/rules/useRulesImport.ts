import { computed, ref, shallowRef, watch } from 'vue'

import { UnansweredError } from '../../connection/errors'
import { errorText } from '../../data/errors'
import { useRules } from '../../data/rules'
import { useServer } from '../../data/server'
import { readSettings } from '../../data/settingsRules'
import type { AddRule, RuleScope, SettingsRules } from '../../protocol.gen'
import { importRows, isTicked, type ImportRow } from './importRows'
import { scopeAt, type RulePlace } from './places'

/** What came of a rule that was sent. */
export type ImportResult = { kind: 'added' } | { kind: 'failed'; why: string }

/** The way of rules from a settings file into Sayso: read, looked at, added one by one. */
export function useRulesImport() {
  const rules = useRules()
  const server = useServer()
  const text = ref('')
  const found = shallowRef<SettingsRules | null>(null)
  const problem = ref<string | null>(null)
  const isReading = ref(false)
  const place = ref<RulePlace>({ kind: 'everywhere', path: '' })
  const ticks = shallowRef<ReadonlyMap<string, boolean>>(new Map())
  const results = shallowRef<ReadonlyMap<string, ImportResult>>(new Map())
  /** Null unless rules are being added. */
  const progress = ref<{ done: number; total: number } | null>(null)

  const scope = computed(() => scopeAt(place.value))
  const rows = computed(() => importRows(found.value?.rules ?? [], rules.list, scope.value))
  const chosen = computed(() =>
    rows.value.filter(
      (row) => isTicked(row, ticks.value) && results.value.get(row.key)?.kind !== 'added',
    ),
  )
  const canAdd = computed(
    () => progress.value === null && scope.value !== null && chosen.value.length > 0,
  )
  // What was added in one place is not there in another.
  watch(scope, () => (results.value = new Map()))

  async function read(): Promise<void> {
    if (isReading.value || text.value.trim() === '') return
    isReading.value = true
    problem.value = null
    try {
      found.value = await readSettings(text.value)
      ticks.value = new Map()
      results.value = new Map()
      if (place.value.path === '') {
        place.value = { ...place.value, path: server.defaults?.cwd ?? '' }
      }
    } catch (error) {
      problem.value = errorText(error)
    } finally {
      isReading.value = false
    }
  }

  function tick({ key }: ImportRow, on: boolean): void {
    ticks.value = new Map(ticks.value).set(key, on)
  }

  function back(): void {
    found.value = null
    results.value = new Map()
  }

  /** Begins anew once everything that was wanted is there; anything else is kept. */
  function leave(): void {
    if (results.value.size === 0 || chosen.value.length > 0) return
    text.value = ''
    back()
  }

  /** One after the other, in the file's order. One that fails does not keep the others. */
  async function add(): Promise<void> {
    const target = scope.value
    if (!canAdd.value || target === null) return
    const wanted = chosen.value
    for (const [done, row] of wanted.entries()) {
      progress.value = { done, total: wanted.length }
      const error = await addOne(row, target)
      const result: ImportResult =
        error === null ? { kind: 'added' } : { kind: 'failed', why: errorText(error) }
      results.value = new Map(results.value).set(row.key, result)
      // Without a connection the others would fail the same way, one by one and slowly.
      if (error instanceof UnansweredError) break
    }
    progress.value = null
  }

  async function addOne(row: ImportRow, target: RuleScope): Promise<unknown> {
    const { rule, effect, tooBroad } = row
    const sent: AddRule = { rule, effect, scope: target }
    try {
      await rules.add(tooBroad === null ? sent : { ...sent, confirm_broad: true })
      return null
    } catch (error) {
      return error
    }
  }

  return {
    ...{ text, found, problem, isReading, place, ticks, results, progress },
    ...{ rows, chosen, canAdd, read, tick, back, leave, add },
  }
}

export type RulesImporting = ReturnType<typeof useRulesImport>
