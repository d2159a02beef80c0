import { onBeforeUnmount, ref, type Ref } from 'vue'

/** A phone lying on its side is wide, but not high enough for a rail. */
const NARROW = '(max-width: 759px), (max-height: 499px) and (pointer: coarse)'

/** True on a phone: one column with a bar at the bottom instead of a rail at the side. */
export function useNarrow(): Ref<boolean> {
  const query = window.matchMedia?.(NARROW)
  const narrow = ref(query?.matches ?? false)
  const changed = (event: MediaQueryListEvent): void => {
    narrow.value = event.matches
  }
  query?.addEventListener('change', changed)
  onBeforeUnmount(() => query?.removeEventListener('change', changed))
  return narrow
}
