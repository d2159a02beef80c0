import { computed, type ComputedRef, type WritableComputedRef } from 'vue'

import { useRequestDraft } from '../../../data/requestDrafts'
import { useServer } from '../../../data/server'
import { isString } from '../../../data/storage'
import type { PermissionModeInfo, PendingRequest, Session } from '../../../protocol.gen'

const CAREFUL = 'default'

export interface PlanModes {
  /** Those that an approved plan can lead to; none of them asks nothing. */
  all: ComputedRef<readonly PermissionModeInfo[]>
  /** Empty when the agent leaves no choice. */
  chosen: WritableComputedRef<string>
  label: ComputedRef<string>
}

/** The mode that follows an approved plan: chosen by a human, never the loosest by itself. */
export function usePlanModes(request: PendingRequest, session: () => Session): PlanModes {
  const server = useServer()
  const draft = useRequestDraft(request.request_id, 'mode', CAREFUL, isString)
  const all = computed(() => {
    const agent = server.agent(session().agent)
    if (agent === null || !agent.capabilities.set_permission_mode) return []
    return agent.permission_modes.filter(({ mode, dangerous }) => mode !== 'plan' && !dangerous)
  })
  const known = computed(
    () => all.value.find(({ mode }) => mode === draft.value) ?? all.value[0] ?? null,
  )
  const chosen = computed({
    get: () => known.value?.mode ?? '',
    set: (mode) => (draft.value = mode),
  })
  return { all, chosen, label: computed(() => known.value?.label ?? '') }
}
