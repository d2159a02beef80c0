import { computed, onBeforeUnmount, ref, type ComputedRef, type Ref } from 'vue'

import { useMe } from '../../data/me'
import { useMessages } from '../../data/messages'
import { useServer } from '../../data/server'
import { useSessions } from '../../data/sessions'
import { useToasts } from '../../data/toasts'
import type { PermissionModeInfo, Session } from '../../protocol.gen'

/** How long the last mode of a walk through them stands before it counts. */
export const CYCLE_PAUSE = 500

export interface Modes {
  all: ComputedRef<readonly PermissionModeInfo[]>
  /** The mode that is on, or on its way. */
  current: ComputedRef<PermissionModeInfo>
  /** Chosen, and not confirmed by the server yet. */
  isPending: ComputedRef<boolean>
  /** The agent is in a mode that asks nothing, whatever is on its way. */
  isDangerous: ComputedRef<boolean>
  canChange: ComputedRef<boolean>
  announcement: Ref<string>
  choose: (mode: string) => Promise<void>
  cycle: () => void
  /** Lets a walk count now, without the pause. */
  commit: () => Promise<void>
}

/** The permission modes of a session, and the ways to change its mode. */
export function useModes(session: () => Session): Modes {
  const me = useMe()
  const server = useServer()
  const sessions = useSessions()
  const messages = useMessages()
  const toasts = useToasts()
  const pending = ref<string | null>(null)
  const announcement = ref('')
  let timer: ReturnType<typeof setTimeout> | undefined

  const agent = computed(() => server.agent(session().agent))
  const all = computed(() => agent.value?.permission_modes ?? [])
  /** An ended agent is started in the mode that was chosen meanwhile. */
  const known = computed(() => {
    const { session_id, state, permission_mode } = session()
    const choice = messages.choices.get(session_id)?.permission_mode
    return state === 'dead' ? (choice ?? permission_mode) : permission_mode
  })
  const current = computed(() => find(pending.value ?? known.value))
  const isPending = computed(() => pending.value !== null && pending.value !== known.value)
  const isDangerous = computed(() => find(known.value).dangerous)
  const canChange = computed(() => {
    if (!me.may('approve')) return false
    const { state, can_resume } = session()
    return state === 'dead' ? can_resume : agent.value?.capabilities.set_permission_mode === true
  })

  /** An agent may report a mode that this server has no words for. */
  function find(mode: string): PermissionModeInfo {
    const info = all.value.find((other) => other.mode === mode)
    return info ?? { mode, label: mode, description: '', dangerous: false }
  }

  async function choose(mode: string): Promise<void> {
    clearTimeout(timer)
    const { session_id, state } = session()
    if (state === 'dead') {
      pending.value = null
      messages.choose(session_id, { permission_mode: mode })
      return
    }
    pending.value = mode
    if (mode !== known.value) await toasts.guard(sessions.setMode(session_id, mode))
    // Refused or not: what the server says counts.
    if (pending.value === mode) pending.value = null
  }

  /**
   * Goes to the next mode that asks. Walking past a mode must not switch it on:
   * that could settle an open request. So only the last one counts, after a pause.
   */
  function cycle(): void {
    const safe = all.value.filter(({ dangerous }) => !dangerous)
    if (!canChange.value || safe.length === 0) return
    const index = safe.findIndex(({ mode }) => mode === current.value.mode)
    const next = safe[(index + 1) % safe.length]
    if (next === undefined) return
    pending.value = next.mode
    announcement.value = `Mode: ${next.label}. ${next.description}`
    clearTimeout(timer)
    timer = setTimeout(() => void choose(next.mode), CYCLE_PAUSE)
  }

  async function commit(): Promise<void> {
    if (pending.value !== null) await choose(pending.value)
  }

  onBeforeUnmount(() => void commit())
  return {
    ...{ all, current, isPending, isDangerous, canChange, announcement },
    ...{ choose, cycle, commit },
  }
}
