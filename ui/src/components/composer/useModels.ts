import { computed, ref, type ComputedRef } from 'vue'

import { useFeatures } from '../../data/features'
import { useMe } from '../../data/me'
import { useMessages } from '../../data/messages'
import { useServer } from '../../data/server'
import { useSessions } from '../../data/sessions'
import { useToasts } from '../../data/toasts'
import type { ModelInfo, Session } from '../../protocol.gen'

export interface Models {
  all: ComputedRef<readonly ModelInfo[]>
  /** The model that is on, or on its way; empty while the agent has not said. */
  current: ComputedRef<string>
  label: ComputedRef<string>
  isPending: ComputedRef<boolean>
  canChange: ComputedRef<boolean>
  choose: (model: string) => Promise<void>
}

/** The models of a session's agent, and the way to change to another. */
export function useModels(session: () => Session): Models {
  const me = useMe()
  const server = useServer()
  const sessions = useSessions()
  const features = useFeatures()
  const messages = useMessages()
  const toasts = useToasts()
  const pending = ref<string | null>(null)

  const agent = computed(() => server.agent(session().agent))
  const all = computed(() => {
    const { models } = features.get(session().session_id)
    return models.length > 0 ? models : (agent.value?.models ?? [])
  })
  const current = computed(() => {
    const { session_id, state, model } = session()
    const choice = state === 'dead' ? messages.choices.get(session_id)?.model : undefined
    return pending.value ?? choice ?? model ?? ''
  })
  const label = computed(
    () => all.value.find(({ value }) => value === current.value)?.label ?? current.value,
  )
  const isPending = computed(() => pending.value !== null)
  const canChange = computed(() => {
    const { state, can_resume } = session()
    if (!me.may('approve')) return false
    return agent.value?.capabilities.set_model === true && (state !== 'dead' || can_resume)
  })

  async function choose(model: string): Promise<void> {
    const { session_id, state } = session()
    if (state === 'dead') return messages.choose(session_id, { model })
    pending.value = model
    await toasts.guard(sessions.setModel(session_id, model))
    // Refused or not: what the server says counts.
    if (pending.value === model) pending.value = null
  }

  return { all, current, label, isPending, canChange, choose }
}
