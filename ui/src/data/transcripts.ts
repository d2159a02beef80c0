import { defineStore } from 'pinia'
import { computed, shallowReactive, shallowRef } from 'vue'

import type { DeltaKind, ServerMessage, TranscriptEntry } from '../protocol.gen'
import { useServer } from './server'
import { useSessions } from './sessions'

/** Text that is still being written; the entry of the same key replaces it. */
export interface LiveBlock {
  key: string
  kind: DeltaKind
  text: string
}

export interface Transcript {
  entries: readonly TranscriptEntry[]
  live: readonly LiveBlock[]
  /** False until the server has sent what it has. */
  loaded: boolean
}

type Delta = Extract<ServerMessage, { type: 'delta' }>

const EMPTY: Transcript = { entries: [], live: [], loaded: false }

/**
 * The conversations that were opened in this page. One of them is subscribed
 * to at a time; the others wait with what they have and catch up when opened.
 */
export const useTranscripts = defineStore('transcripts', () => {
  const server = useServer()
  const sessions = useSessions()
  const bySession = shallowReactive(new Map<string, Transcript>())
  const opened = shallowRef<string | null>(null)

  const current = computed(() => get(opened.value ?? ''))

  function get(sessionId: string): Transcript {
    return bySession.get(sessionId) ?? EMPTY
  }

  function lastSeq(sessionId: string): number {
    return get(sessionId).entries.at(-1)?.seq ?? 0
  }

  function open(sessionId: string): void {
    if (opened.value === sessionId) return
    close()
    opened.value = sessionId
    subscribe(sessionId)
  }

  function close(): void {
    const session_id = opened.value
    opened.value = null
    if (session_id === null) return
    update(session_id, { live: [] })
    // Nothing depends on the answer: a lost connection ends the subscription too.
    server.ask({ type: 'unsubscribe', session_id }).catch(() => undefined)
  }

  /** After a new snapshot: subscriptions ended with the old connection. */
  function resume(): void {
    for (const sessionId of [...bySession.keys()]) {
      const session = sessions.get(sessionId)
      // A shorter transcript than ours is another one: the data folder was replaced.
      if (session === null || session.last_seq < lastSeq(sessionId)) bySession.delete(sessionId)
      else update(sessionId, { live: [] })
    }
    if (opened.value !== null) subscribe(opened.value)
  }

  function subscribe(session_id: string): void {
    const after = lastSeq(session_id)
    server
      .ask({ type: 'subscribe', session_id, ...(after > 0 ? { after } : {}) })
      .then(() => update(session_id, { loaded: true }))
      .catch(() => undefined)
  }

  function receive(sessionId: string, entries: TranscriptEntry[]): void {
    const transcript = get(sessionId)
    let last = lastSeq(sessionId)
    const fresh: TranscriptEntry[] = []
    for (const entry of entries) {
      if (entry.seq <= last) continue
      if (entry.seq !== last + 1) {
        append(sessionId, transcript, fresh)
        if (opened.value === sessionId) subscribe(sessionId)
        return
      }
      fresh.push(entry)
      last = entry.seq
    }
    append(sessionId, transcript, fresh)
  }

  function append(sessionId: string, transcript: Transcript, fresh: TranscriptEntry[]): void {
    if (fresh.length === 0) return
    update(sessionId, {
      entries: [...transcript.entries, ...fresh],
      live: liveAfter(transcript.live, fresh),
    })
  }

  function receiveDelta(delta: Delta): void {
    if (opened.value !== delta.session_id) return
    const { entries, live } = get(delta.session_id)
    const key = blockKey(delta.message_id, delta.index)
    if (isWritten(entries, key)) return
    const before = live.find((block) => block.key === key)
    const text = delta.restart === true ? delta.text : (before?.text ?? '') + delta.text
    const block = { key, kind: delta.kind, text }
    update(delta.session_id, {
      live: before ? live.map((other) => (other === before ? block : other)) : [...live, block],
    })
  }

  function clearLive(sessionId: string): void {
    if (get(sessionId).live.length > 0) update(sessionId, { live: [] })
  }

  function remove(sessionId: string): void {
    bySession.delete(sessionId)
  }

  function update(sessionId: string, change: Partial<Transcript>): void {
    bySession.set(sessionId, { ...get(sessionId), ...change })
  }

  return {
    bySession,
    opened,
    current,
    get,
    lastSeq,
    open,
    close,
    resume,
    receive,
    receiveDelta,
    clearLive,
    remove,
  }
})

function blockKey(messageId: string, index: number): string {
  return `${messageId}/${index}`
}

function entryKey(entry: TranscriptEntry): string | null {
  return 'index' in entry ? blockKey(entry.message_id, entry.index) : null
}

/** Deltas of finished blocks come late, if at all, so looking back a little is enough. */
function isWritten(entries: readonly TranscriptEntry[], key: string): boolean {
  return entries.slice(-50).some((entry) => entryKey(entry) === key)
}

function liveAfter(live: readonly LiveBlock[], fresh: TranscriptEntry[]): readonly LiveBlock[] {
  if (live.length === 0) return live
  if (fresh.some((entry) => entry.kind === 'turn_ended')) return []
  const written = new Set(fresh.map(entryKey))
  return live.filter((block) => !written.has(block.key))
}
