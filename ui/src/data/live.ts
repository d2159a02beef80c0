import { shallowReactive } from 'vue'

import type { DeltaKind, ServerMessage, TranscriptEntry } from '../protocol.gen'

export type Delta = Extract<ServerMessage, { type: 'delta' }>

/**
 * Text that is still being written; the entry of the same key replaces it.
 * The block stays the same object while its text grows, so that only what
 * shows the text is drawn again.
 */
export interface LiveBlock {
  readonly key: string
  readonly kind: DeltaKind
  text: string
}

/** The blocks with the delta in them: the same list when a known block grew. */
export function withDelta(live: readonly LiveBlock[], delta: Delta): readonly LiveBlock[] {
  const key = blockKey(delta.message_id, delta.index)
  const known = live.find((block) => block.key === key)
  if (known === undefined) {
    return [...live, shallowReactive({ key, kind: delta.kind, text: delta.text })]
  }
  known.text = delta.restart === true ? delta.text : known.text + delta.text
  return live
}

/** What is still being written once these entries are. */
export function liveAfter(
  live: readonly LiveBlock[],
  fresh: readonly TranscriptEntry[],
): readonly LiveBlock[] {
  if (live.length === 0) return live
  if (fresh.some((entry) => entry.kind === 'turn_ended')) return []
  const written = new Set(fresh.map(entryKey))
  return live.filter((block) => !written.has(block.key))
}

/** Deltas of finished blocks come late, if at all, so looking back a little is enough. */
export function isWritten(entries: readonly TranscriptEntry[], delta: Delta): boolean {
  const key = blockKey(delta.message_id, delta.index)
  return entries.slice(-50).some((entry) => entryKey(entry) === key)
}

export function entryKey(entry: TranscriptEntry): string | null {
  return 'index' in entry ? blockKey(entry.message_id, entry.index) : null
}

function blockKey(messageId: string, index: number): string {
  return `${messageId}/${index}`
}
