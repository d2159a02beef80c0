import { onBeforeUnmount, onMounted, ref, type Ref } from 'vue'

/** True while somebody has zoomed in with two fingers, and moves around to read. */
export function useZoomed(): Ref<boolean> {
  const zoomed = ref(false)
  const view = window.visualViewport

  function look(): void {
    zoomed.value = (view?.scale ?? 1) > 1.02
  }

  onMounted(() => {
    look()
    view?.addEventListener('resize', look)
  })
  onBeforeUnmount(() => view?.removeEventListener('resize', look))
  return zoomed
}
