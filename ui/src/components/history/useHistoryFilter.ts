import { computed, ref, watch } from 'vue'
import { useRoute, useRouter } from 'vue-router'

import { useClock } from '../../data/clock'
import {
  filterCount,
  NO_FILTER,
  readFilter,
  startOfDay,
  toQuery,
  writeFilter,
  type HistoryFilter,
} from './filter'

/** What narrows the history. It lives in the address: a view can be linked, and the way back leads through them. */
export function useHistoryFilter() {
  const route = useRoute()
  const router = useRouter()
  const clock = useClock()
  const filter = ref(readFilter(route.query))

  // The address of another page says nothing about this one, which is about to go.
  watch(
    () => route.query,
    (query) => {
      if (route.name === 'history') filter.value = readFilter(query)
    },
  )

  const count = computed(() => filterCount(filter.value))
  const today = computed(() => startOfDay(clock.now))
  const query = computed(() => toQuery(filter.value, today.value))
  /** As the address has it, for links that stay in this view. */
  const address = computed(() => writeFilter(filter.value))

  function change(part: Partial<HistoryFilter>): void {
    const next = { ...filter.value, ...part }
    const to = { name: 'history', params: route.params, query: writeFilter(next) }
    // Further letters of a search are no steps that somebody would want to go back through.
    const isTyping = 'search' in part && filter.value.search !== '' && next.search !== ''
    void (isTyping ? router.replace(to) : router.push(to))
    filter.value = next
  }

  const clear = (): void => change(NO_FILTER)

  return { filter, count, query, address, change, clear }
}
