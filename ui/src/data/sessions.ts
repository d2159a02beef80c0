import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'

import type { Session, StartSession } from '../protocol.gen'
import { useServer } from './server'

export interface SessionGroup {
  cwd: string
  sessions: Session[]
}

/** Starting an agent takes longer than other answers. */
const START_TIMEOUT = 90_000

/** Every session the server knows, in an order that updates do not disturb. */
export const useSessions = defineStore('sessions', () => {
  const server = useServer()
  const byId = shallowRef<ReadonlyMap<string, Session>>(new Map())

  const groups = computed(() => groupByFolder([...byId.value.values()]))
  const inOrder = computed(() => groups.value.flatMap((group) => group.sessions))

  function replaceAll(sessions: Session[]): void {
    byId.value = new Map(sessions.map((session) => [session.session_id, session]))
  }

  function put(session: Session): void {
    byId.value = new Map(byId.value).set(session.session_id, session)
  }

  function remove(sessionId: string): void {
    const rest = new Map(byId.value)
    rest.delete(sessionId)
    byId.value = rest
  }

  function get(sessionId: string): Session | null {
    return byId.value.get(sessionId) ?? null
  }

  async function start(settings: StartSession): Promise<string> {
    const ack = await server.ask({ type: 'start_session', ...settings }, START_TIMEOUT)
    if (ack.session_id === undefined) throw new Error('Sayso started a session without an id.')
    return ack.session_id
  }

  const interrupt = (session_id: string) => server.ask({ type: 'interrupt', session_id })
  const stop = (session_id: string) => server.ask({ type: 'stop_session', session_id })
  const discard = (session_id: string) => server.ask({ type: 'remove_session', session_id })
  const setMode = (session_id: string, permission_mode: string) =>
    server.ask({ type: 'set_permission_mode', session_id, permission_mode })

  return {
    byId,
    groups,
    inOrder,
    replaceAll,
    put,
    remove,
    get,
    start,
    interrupt,
    stop,
    discard,
    setMode,
  }
})

function groupByFolder(sessions: Session[]): SessionGroup[] {
  const newestFirst = sessions.toSorted((a, b) => b.started_at.localeCompare(a.started_at))
  const groups = new Map<string, SessionGroup>()
  for (const session of newestFirst) {
    const group = groups.get(session.cwd) ?? { cwd: session.cwd, sessions: [] }
    group.sessions.push(session)
    groups.set(session.cwd, group)
  }
  return [...groups.values()]
}
