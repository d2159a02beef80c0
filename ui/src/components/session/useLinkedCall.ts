import { watch } from 'vue'

import { useSessions } from '../../data/sessions'
import { useTranscripts } from '../../data/transcripts'

/** A list is laid out in one frame and placed at its end in the next. */
const FRAMES = 2

/** Brings the call that a link names into view, as soon as the conversation is there to look in. */
export function useLinkedCall(
  link: () => { sessionId: string; toolUseId: string | null },
  reveal: (toolUseId: string) => Promise<void> | undefined,
): void {
  const sessions = useSessions()
  const transcripts = useTranscripts()
  let shown: string | null = null

  /** Older parts are read on the way; newer ones come by themselves, and are waited for. */
  function isThere(sessionId: string): boolean {
    const last = transcripts.lastSeq(sessionId)
    return last > 0 && last >= (sessions.get(sessionId)?.last_seq ?? Infinity)
  }

  watch(
    () => {
      const { sessionId, toolUseId } = link()
      return toolUseId !== null && isThere(sessionId) ? `${sessionId} ${toolUseId}` : null
    },
    async (key) => {
      const { toolUseId } = link()
      // More that is said afterwards does not call the reader back.
      if (key === null || toolUseId === null || key === shown) return
      shown = key
      for (let frame = 0; frame < FRAMES; frame++) {
        await new Promise((resolve) => requestAnimationFrame(resolve))
      }
      await reveal(toolUseId)
    },
    { immediate: true, flush: 'post' },
  )
}
