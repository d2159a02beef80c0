import { onBeforeUnmount, ref, type Ref } from 'vue'

/** True on a phone: one column with a bar at the bottom instead of a rail at the side. */
export function useNarrow(): Ref<boolean> {
  const query = window.matchMedia?.('(max-width: 759px)')
  const narrow = ref(query?.matches ?? false)
  const changed = (event: MediaQueryListEvent): void => {
    narrow.value = event.matches
  }
  query?.addEventListener('change', changed)
  onBeforeUnmount(() => query?.removeEventListener('change', changed))
  return narrow
}
