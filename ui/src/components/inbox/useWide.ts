import { onBeforeUnmount, ref, type Ref } from 'vue'

/** True where a whole card has room beside the list and the rail. */
export function useWide(): Ref<boolean> {
  const query = window.matchMedia?.('(min-width: 1080px)')
  const wide = ref(query?.matches ?? true)
  const changed = (event: MediaQueryListEvent): void => {
    wide.value = event.matches
  }
  query?.addEventListener('change', changed)
  onBeforeUnmount(() => query?.removeEventListener('change', changed))
  return wide
}
