import { computed, ref, shallowRef, watch } from 'vue'

import { listAgentRules } from '../../data/agentRules'
import { errorText } from '../../data/errors'
import { useSessions } from '../../data/sessions'
import type { AgentRule } from '../../protocol.gen'
import { bySource } from './agentSources'

/** The own rules of one agent that runs. What it says does not change by itself. */
export function useAgentRules() {
  const sessions = useSessions()
  const sessionId = ref('')
  const rules = shallowRef<readonly AgentRule[] | null>(null)
  const problem = ref<string | null>(null)
  const isLoading = ref(false)
  let asked = 0

  const groups = computed(() => (rules.value === null ? null : bySource(rules.value)))

  /** Only the last answer counts. */
  async function load(): Promise<void> {
    if (sessionId.value === '') return
    const mine = ++asked
    isLoading.value = true
    problem.value = null
    try {
      const found = await listAgentRules(sessionId.value)
      if (mine === asked) rules.value = found
    } catch (error) {
      if (mine === asked) problem.value = errorText(error)
    } finally {
      if (mine === asked) isLoading.value = false
    }
  }

  // A choice stays while its agent runs, whichever agent does something meanwhile.
  watch(
    () => sessions.running,
    (running) => {
      const isThere = running.some(({ session_id }) => session_id === sessionId.value)
      if (!isThere) sessionId.value = running[0]?.session_id ?? ''
    },
    { immediate: true },
  )
  watch(
    sessionId,
    () => {
      rules.value = null
      void load()
    },
    { immediate: true },
  )

  return { sessionId, groups, problem, isLoading, load }
}
