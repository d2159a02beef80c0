import { computed, onScopeDispose, ref, shallowRef, watch } from 'vue'

import { errorText } from '../../data/errors'
import { useServer } from '../../data/server'
import { settingsAddress, writeSettings } from '../../data/settingsRules'
import { scopeAt, type RulePlace } from './places'

/** After the last letter of a folder, before the server is asked. */
const PAUSE = 250

/** Sayso's rules as a settings file, for the place that is chosen. */
export function useRulesExport() {
  const place = ref<RulePlace>({ kind: 'everywhere', path: useServer().defaults?.cwd ?? '' })
  const file = shallowRef<{ address: string; text: string } | null>(null)
  const problem = ref<string | null>(null)
  let timer: ReturnType<typeof setTimeout>
  let asking: AbortController | null = null

  /** Null for everywhere, undefined while no folder is named. */
  const folder = computed(() => {
    const scope = scopeAt(place.value)
    if (scope === null) return undefined
    return scope.kind === 'project' ? scope.path : null
  })

  async function load(of: string | null): Promise<void> {
    const current = new AbortController()
    asking = current
    try {
      const text = await writeSettings(of, current.signal)
      if (asking === current) file.value = { address: settingsAddress(of), text }
    } catch (error) {
      if (asking === current) problem.value = errorText(error)
    }
  }

  function drop(): void {
    clearTimeout(timer)
    const unfinished = asking
    asking = null
    unfinished?.abort()
  }

  watch(
    folder,
    (now, before) => {
      drop()
      file.value = null
      problem.value = null
      if (now === undefined) return
      const isTyped = typeof now === 'string' && typeof before === 'string'
      if (isTyped) timer = setTimeout(() => void load(now), PAUSE)
      else void load(now)
    },
    { immediate: true },
  )
  onScopeDispose(drop)

  return { place, folder, file, problem }
}
