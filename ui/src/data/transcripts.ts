import { defineStore } from 'pinia'
import { computed, shallowReactive, shallowRef } from 'vue'

import { getJson } from '../connection/rest'
import type { TranscriptEntry } from '../protocol.gen'
import { Arrangement, type Row } from './arrange'
import { entryKey, isWritten, liveAfter, withDelta, type Delta, type LiveBlock } from './live'
import { useServer } from './server'
import { useSessions } from './sessions'

/** What stands before the first entry that is known. */
export type Earlier = 'nothing' | 'more' | 'loading' | 'failed'

export interface Transcript {
  /** Numbered without gaps; the first one may be any. */
  entries: readonly TranscriptEntry[]
  rows: readonly Row[]
  live: readonly LiveBlock[]
  /** False until the server has sent what it has. */
  loaded: boolean
  earlier: Earlier
  /** Entries that were seen being written, with the key of the block they replaced. */
  written: ReadonlyMap<number, string>
}

const EMPTY: Transcript = {
  entries: [],
  rows: [],
  live: [],
  loaded: false,
  earlier: 'nothing',
  written: new Map(),
}

/** A conversation opens with so many of its last entries, and earlier ones come in such pages. */
const PAGE = 200

/**
 * The conversations that were opened in this page. One of them is subscribed
 * to at a time; the others wait with what they have and catch up when opened.
 */
export const useTranscripts = defineStore('transcripts', () => {
  const server = useServer()
  const sessions = useSessions()
  const bySession = shallowReactive(new Map<string, Transcript>())
  const arrangements = new Map<string, Arrangement>()
  const loading = new Map<string, Promise<void>>()
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
    clearLive(session_id)
    // Nothing depends on the answer: a lost connection ends the subscription too.
    server.ask({ type: 'unsubscribe', session_id }).catch(() => undefined)
  }

  /** After a new snapshot: subscriptions ended with the old connection. */
  function resume(): void {
    for (const sessionId of [...bySession.keys()]) {
      const session = sessions.get(sessionId)
      // A shorter transcript than ours is another one: the data folder was replaced.
      if (session === null || session.last_seq < lastSeq(sessionId)) remove(sessionId)
      else clearLive(sessionId)
    }
    if (opened.value !== null) subscribe(opened.value)
  }

  function subscribe(session_id: string): void {
    const after = lastSeq(session_id)
    server
      .ask({ type: 'subscribe', session_id, ...(after > 0 ? { after } : { last: PAGE }) })
      .then(() => update(session_id, { loaded: true }))
      .catch(() => undefined)
  }

  function receive(sessionId: string, entries: readonly TranscriptEntry[]): void {
    const known = lastSeq(sessionId)
    // A conversation that was opened at its end may begin with any number.
    let last = known > 0 ? known : (entries[0]?.seq ?? 1) - 1
    const fresh: TranscriptEntry[] = []
    for (const entry of entries) {
      if (entry.seq <= last) continue
      if (entry.seq !== last + 1) {
        append(sessionId, fresh)
        if (opened.value === sessionId) subscribe(sessionId)
        return
      }
      fresh.push(entry)
      last = entry.seq
    }
    append(sessionId, fresh)
  }

  function append(sessionId: string, fresh: readonly TranscriptEntry[]): void {
    if (fresh.length === 0) return
    const { entries, live, written } = get(sessionId)
    update(sessionId, {
      entries: [...entries, ...fresh],
      rows: arranged(sessionId, fresh),
      live: liveAfter(live, fresh),
      written: live.length === 0 ? written : withWritten(written, live, fresh),
      ...(entries.length === 0 ? { earlier: before(fresh) } : {}),
    })
  }

  /** Reads the page before the first entry that is known, or waits for it to be read. */
  function loadEarlier(sessionId: string): Promise<void> {
    const running = loading.get(sessionId)
    if (running !== undefined) return running
    const work = readEarlier(sessionId).finally(() => loading.delete(sessionId))
    loading.set(sessionId, work)
    return work
  }

  async function readEarlier(sessionId: string): Promise<void> {
    const first = get(sessionId).entries[0]?.seq ?? 1
    if (first <= 1) return
    update(sessionId, { earlier: 'loading' })
    try {
      const path = `/api/sessions/${encodeURIComponent(sessionId)}/transcript`
      const page = await getJson<{ entries: TranscriptEntry[] }>(path, {
        before: first,
        limit: PAGE,
      })
      prepend(sessionId, first, page.entries)
    } catch {
      if (bySession.has(sessionId)) update(sessionId, { earlier: 'failed' })
    }
  }

  function prepend(sessionId: string, first: number, page: readonly TranscriptEntry[]): void {
    const { entries } = get(sessionId)
    // Meanwhile the conversation may have been replaced by another one.
    if (entries[0]?.seq !== first) return
    if (page.at(-1)?.seq !== first - 1) throw new Error('The page does not end where it should.')
    update(sessionId, {
      entries: [...page, ...entries],
      rows: arranged(sessionId, page),
      earlier: before(page),
    })
  }

  function arranged(sessionId: string, added: readonly TranscriptEntry[]): readonly Row[] {
    const arrangement = arrangements.get(sessionId) ?? new Arrangement()
    arrangements.set(sessionId, arrangement)
    arrangement.add(added)
    return arrangement.rows
  }

  function receiveDelta(delta: Delta): void {
    if (opened.value !== delta.session_id) return
    const { entries, live } = get(delta.session_id)
    if (isWritten(entries, delta)) return
    const next = withDelta(live, delta)
    if (next !== live) update(delta.session_id, { live: next })
  }

  function clearLive(sessionId: string): void {
    if (get(sessionId).live.length > 0) update(sessionId, { live: [] })
  }

  function remove(sessionId: string): void {
    bySession.delete(sessionId)
    arrangements.delete(sessionId)
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
    loadEarlier,
    clearLive,
    remove,
  }
})

function before(entries: readonly TranscriptEntry[]): Earlier {
  return (entries[0]?.seq ?? 1) > 1 ? 'more' : 'nothing'
}

function withWritten(
  written: ReadonlyMap<number, string>,
  live: readonly LiveBlock[],
  fresh: readonly TranscriptEntry[],
): ReadonlyMap<number, string> {
  const keys = new Set(live.map(({ key }) => key))
  const added = fresh.flatMap((entry): [number, string][] => {
    const key = entryKey(entry)
    return key !== null && keys.delete(key) ? [[entry.seq, key]] : []
  })
  return added.length === 0 ? written : new Map([...written, ...added])
}
