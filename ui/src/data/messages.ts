import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'

import type { Session } from '../protocol.gen'
import { errorText } from './errors'
import { useServer } from './server'
import { useSessions } from './sessions'
import { isString, readJson, writeJson } from './storage'

export interface Draft {
  /** What stands in the composer. */
  text: string
  /** Sent and not confirmed yet. It comes back into the composer if that fails. */
  outgoing: readonly string[]
  error: string | null
}

const EMPTY: Draft = { text: '', outgoing: [], error: null }

/** What the human writes, per session. Nothing typed is lost before the server has it. */
export const useMessages = defineStore('messages', () => {
  const server = useServer()
  const sessions = useSessions()
  const drafts = shallowReactive(new Map<string, Draft>())

  function draft(sessionId: string): Draft {
    return drafts.get(sessionId) ?? EMPTY
  }

  /** Brings back what an earlier page of this tab left behind. */
  function load(sessionId: string): void {
    if (drafts.has(sessionId)) return
    const text = readJson(sessionStorage, storageKey(sessionId), isString) ?? ''
    drafts.set(sessionId, { ...EMPTY, text })
  }

  function write(sessionId: string, text: string): void {
    change(sessionId, { text })
  }

  /** Sends the draft. A session whose agent has ended is started again with it. */
  async function send(session: Session): Promise<void> {
    const { session_id, cwd } = session
    const text = draft(session_id).text.trim()
    if (text === '') return
    change(session_id, { text: '', error: null, outgoing: [...draft(session_id).outgoing, text] })
    try {
      if (session.state === 'dead') await sessions.start({ cwd, resume: session_id, prompt: text })
      else {
        const content = [{ type: 'text' as const, text }]
        await server.ask({ type: 'send_message', session_id, content })
      }
      change(session_id, { outgoing: without(draft(session_id).outgoing, text) })
    } catch (error) {
      const { outgoing, text: since } = draft(session_id)
      change(session_id, {
        outgoing: without(outgoing, text),
        text: since === '' ? text : `${text}\n${since}`,
        error: errorText(error),
      })
    }
  }

  function change(sessionId: string, part: Partial<Draft>): void {
    const next = { ...draft(sessionId), ...part }
    drafts.set(sessionId, next)
    const kept = [...next.outgoing, next.text].filter((text) => text !== '').join('\n')
    writeJson(sessionStorage, storageKey(sessionId), kept)
  }

  return { draft, load, write, send }
})

function storageKey(sessionId: string): string {
  return `sayso.draft.${sessionId}`
}

function without(list: readonly string[], item: string): string[] {
  const index = list.indexOf(item)
  return list.filter((_, position) => position !== index)
}
