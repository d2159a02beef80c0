import { defineStore } from 'pinia'
import { shallowRef } from 'vue'

import { useMe } from '../../data/me'
import { useSessions } from '../../data/sessions'
import { useToasts } from '../../data/toasts'
import type { Scope, Session } from '../../protocol.gen'

/** Where a title is edited: where the human asked for it. */
export type RenamePlace = 'list' | 'header'

/** What can be done to a session from its menu or with a key. */
export const useSessionActions = defineStore('session-actions', () => {
  const me = useMe()
  const sessions = useSessions()
  const toasts = useToasts()
  const renaming = shallowRef<{ sessionId: string; place: RenamePlace } | null>(null)
  /** The session that would be deleted, while its human is asked. */
  const deleting = shallowRef<Session | null>(null)

  /** A key has no place to say why nothing happens. */
  function mayOrSay(scope: Scope): boolean {
    const why = me.why(scope)
    if (why !== null) toasts.show(why)
    return why === null
  }

  function startRename({ session_id }: Session, place: RenamePlace): void {
    if (!mayOrSay('answer')) return
    renaming.value = { sessionId: session_id, place }
  }

  function isRenaming({ session_id }: Session, place: RenamePlace): boolean {
    return renaming.value?.sessionId === session_id && renaming.value.place === place
  }

  /** A null title leaves the old one. */
  function endRename(session: Session, title: string | null): void {
    renaming.value = null
    const trimmed = title?.trim() ?? ''
    if (trimmed === '' || trimmed === session.title) return
    void toasts.guard(sessions.rename(session.session_id, trimmed))
  }

  function stop({ session_id, state }: Session): void {
    if (state !== 'dead' && mayOrSay('answer')) void toasts.guard(sessions.stop(session_id))
  }

  function toggleArchive({ session_id, archived }: Session): void {
    if (mayOrSay('answer')) void toasts.guard(sessions.archive(session_id, !archived))
  }

  function askToDelete(session: Session): void {
    if (mayOrSay('approve')) deleting.value = session
  }

  return {
    renaming,
    deleting,
    startRename,
    isRenaming,
    endRename,
    stop,
    toggleArchive,
    askToDelete,
  }
})
