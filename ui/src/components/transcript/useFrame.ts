import { onBeforeUnmount, shallowRef, watch, type ShallowRef } from 'vue'

/** A value that changes as often as it likes, followed at most once in each frame. */
export function useFrame<T>(source: () => T): Readonly<ShallowRef<T>> {
  const shown = shallowRef(source())
  let frame: number | null = null
  let isStale = false

  function show(): void {
    shown.value = source()
    isStale = false
    frame = requestAnimationFrame(() => {
      frame = null
      if (isStale) show()
    })
  }

  watch(source, () => {
    if (frame === null) show()
    else isStale = true
  })
  onBeforeUnmount(() => {
    if (frame !== null) cancelAnimationFrame(frame)
  })
  return shown
}
