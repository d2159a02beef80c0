import { onBeforeUnmount, ref, type Ref } from 'vue'

import { useToasts } from '../../data/toasts'
import { useTranscripts } from '../../data/transcripts'
import { holdsCall } from './fold'
import type { ListItem } from './useItems'

/** How long a call that was looked for stands out. */
const STANDS_OUT_FOR = 2000
/** What is far away is drawn a few frames after it was scrolled to. */
const MOST_FRAMES = 30
/** Older pages that are read to find a call; more would take longer than anybody waits. */
const MOST_PAGES = 25

/** What a virtual list has to be able to do. */
interface Scroller {
  scrollToIndex(index: number, options: { align: 'center' }): void
}

/** Finds a tool call in a conversation and brings it into view, open and with the focus. */
export function useReveal(
  sessionId: string,
  items: Readonly<Ref<readonly ListItem[]>>,
  box: Readonly<Ref<HTMLElement | null>>,
  list: Readonly<Ref<Scroller | null>>,
  leaveEnd: () => void,
) {
  const transcripts = useTranscripts()
  const toasts = useToasts()
  const revealed = ref<string | null>(null)
  let timer: ReturnType<typeof setTimeout> | undefined

  async function reveal(toolUseId: string): Promise<void> {
    const index = await find(toolUseId)
    if (index < 0) return toasts.show('This call is not in the conversation that Sayso has.')
    clearTimeout(timer)
    revealed.value = toolUseId
    leaveEnd()
    list.value?.scrollToIndex(index, { align: 'center' })
    const call = await drawn(toolUseId)
    call?.scrollIntoView({ block: 'center' })
    call?.querySelector<HTMLElement>('.row-head')?.focus({ preventScroll: true })
    timer = setTimeout(() => (revealed.value = null), STANDS_OUT_FOR)
  }

  /** It may stand in a part that nobody has read yet. */
  async function find(toolUseId: string): Promise<number> {
    for (let page = 0; page <= MOST_PAGES; page++) {
      const index = items.value.findIndex(({ item }) => holdsCall(item, toolUseId))
      const { earlier } = transcripts.get(sessionId)
      const isEnd = earlier === 'nothing' || (earlier === 'failed' && page > 0)
      if (index >= 0 || isEnd) return index
      await transcripts.loadEarlier(sessionId)
    }
    return -1
  }

  async function drawn(toolUseId: string): Promise<HTMLElement | null> {
    for (let frame = 0; frame < MOST_FRAMES; frame++) {
      await new Promise((resolve) => requestAnimationFrame(resolve))
      const calls = box.value?.querySelectorAll<HTMLElement>('[data-tool-use-id]') ?? []
      const call = [...calls].find(({ dataset }) => dataset.toolUseId === toolUseId)
      if (call !== undefined) return call
    }
    return null
  }

  onBeforeUnmount(() => clearTimeout(timer))
  return { revealed, reveal }
}
