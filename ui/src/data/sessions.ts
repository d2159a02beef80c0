import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'

import type { Session, StartSession } from '../protocol.gen'
import { useServer } from './server'

/** Starting an agent takes longer than other answers. */
const START_TIMEOUT = 90_000

/** Every session the server knows, newest first: an order that updates do not disturb. */
export const useSessions = defineStore('sessions', () => {
  const server = useServer()
  const byId = shallowRef<ReadonlyMap<string, Session>>(new Map())

  // The server sends the oldest first, and sorting what is sorted costs next to nothing.
  const inOrder = computed(() => [...byId.value.values()].sort(byStart).reverse())

  /** Those whose agent can be asked something, the last to do anything first. */
  const running = computed(() =>
    inOrder.value
      .filter(({ state }) => state !== 'dead')
      .sort(byActivity)
      .reverse(),
  )

  /** Where a tool ran that nobody allowed, and nobody has looked yet. */
  const alerted = computed(() => inOrder.value.filter(({ alert }) => alert !== undefined))

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

  /** Opens a conversation that was held outside of Sayso. */
  async function open(cwd: string, conversation_id: string): Promise<string> {
    const ack = await server.ask(
      { type: 'import_conversation', cwd, conversation_id },
      START_TIMEOUT,
    )
    if (ack.session_id === undefined) throw new Error('Sayso opened a conversation without an id.')
    return ack.session_id
  }

  const interrupt = (session_id: string) => server.ask({ type: 'interrupt', session_id })
  const stop = (session_id: string) => server.ask({ type: 'stop_session', session_id })
  /** What is red goes away when the server has noted that it was seen, and not before. */
  const dismissAlert = (session_id: string) => server.ask({ type: 'dismiss_alert', session_id })
  const discard = (session_id: string) => server.ask({ type: 'remove_session', session_id })
  const setMode = (session_id: string, permission_mode: string) =>
    server.ask({ type: 'set_permission_mode', session_id, permission_mode })
  const setModel = (session_id: string, model: string) =>
    server.ask({ type: 'set_model', session_id, model })

  const rename = (session_id: string, title: string) =>
    changed(session_id, 'title', title, () =>
      server.ask({ type: 'rename_session', session_id, title }),
    )
  const archive = (session_id: string, archived: boolean) =>
    changed(session_id, 'archived', archived, () =>
      server.ask({ type: 'archive_session', session_id, archived }),
    )

  /** Shows a change at once, and takes it back if the server refuses it. */
  async function changed<Key extends 'title' | 'archived'>(
    sessionId: string,
    key: Key,
    value: Session[Key],
    ask: () => Promise<unknown>,
  ): Promise<void> {
    const before = get(sessionId)
    if (before !== null) put({ ...before, [key]: value })
    try {
      await ask()
    } catch (error) {
      const now = get(sessionId)
      if (before !== null && now !== null) put({ ...now, [key]: before[key] })
      throw error
    }
  }

  return {
    byId,
    inOrder,
    running,
    alerted,
    replaceAll,
    put,
    remove,
    get,
    start,
    open,
    interrupt,
    stop,
    dismissAlert,
    discard,
    setMode,
    setModel,
    rename,
    archive,
  }
})

function byActivity(a: Session, b: Session): number {
  return Date.parse(a.state_changed_at) - Date.parse(b.state_changed_at)
}

function byStart(a: Session, b: Session): number {
  if (a.started_at === b.started_at) return 0
  return a.started_at < b.started_at ? -1 : 1
}
