import { computed, ref, shallowRef, watch } from 'vue'

import { useClock } from '../../data/clock'
import { toggled } from '../../data/preferences'
import { useRequests } from '../../data/requests'
import { takeDecision } from '../request/oneDecision'
import { groupDecision } from './groupDecision'
import { arrange, isUrgent, successor, type InboxRow } from './inboxOrder'

/** The inbox while it is looked at: its rows, the one in view, and those selected for a group. */
export function useInbox() {
  const requests = useRequests()
  const clock = useClock()
  const rows = shallowRef<readonly InboxRow[]>([])
  const currentId = ref<string | null>(null)
  const marked = shallowRef<ReadonlySet<string>>(new Set())

  /** As a text: the clock ticks twice a second, and this seldom changes. */
  const urgent = computed(() =>
    requests.open
      .filter((request) => isUrgent(request, clock.now))
      .map(({ request_id }) => request_id)
      .join(' '),
  )
  watch(
    [() => requests.open, () => requests.closed, urgent],
    () => {
      const before = rows.value
      rows.value = arrange(before, requests.open, requests.closed, clock.now)
      const stays = rows.value.some(({ request, outcome }) => {
        return outcome === null && request.request_id === currentId.value
      })
      if (!stays) currentId.value = successor(before, rows.value, currentId.value)
    },
    { immediate: true },
  )

  const waiting = computed(() =>
    rows.value.filter(({ outcome }) => outcome === null).map(({ request }) => request),
  )
  const index = computed(() =>
    waiting.value.findIndex(({ request_id }) => request_id === currentId.value),
  )
  const current = computed(() => waiting.value[index.value] ?? null)
  const group = computed(() => {
    const isFree = (id: string): boolean => marked.value.has(id) && !requests.sent.has(id)
    const selected = waiting.value.filter(({ request_id }) => isFree(request_id))
    return groupDecision(selected, requests.seen)
  })

  /** Moves to a neighbour; at either end it stays. */
  function move(step: 1 | -1): void {
    currentId.value = waiting.value[index.value + step]?.request_id ?? currentId.value
  }

  function mark(requestId: string): void {
    marked.value = toggled(marked.value, requestId)
  }

  function markNone(): void {
    marked.value = new Set()
  }

  function decideGroup(behavior: 'allow' | 'deny'): void {
    if (!takeDecision()) return
    for (const request of group.value[behavior]) void requests.respond(request, { behavior })
  }

  return {
    ...{ rows, waiting, current, currentId, index, marked, group },
    ...{ move, mark, markNone, decideGroup },
  }
}
