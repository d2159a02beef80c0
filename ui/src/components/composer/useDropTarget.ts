import { onBeforeUnmount, onMounted, ref, type Ref } from 'vue'

/**
 * Makes an area take files. While some are dragged over the page, `rectangle`
 * is where the area is. A file that misses it must not replace the page.
 */
export function useDropTarget(
  area: () => Element | null,
  drop: (files: File[]) => void,
): { rectangle: Ref<DOMRect | null> } {
  const rectangle = ref<DOMRect | null>(null)

  function carriesFiles(event: DragEvent): boolean {
    return event.dataTransfer?.types.includes('Files') === true
  }

  function isInside(event: DragEvent): boolean {
    return event.target instanceof Node && (area()?.contains(event.target) ?? false)
  }

  function dragged(event: DragEvent): void {
    if (!carriesFiles(event) || event.dataTransfer === null) return
    event.preventDefault()
    const inside = isInside(event)
    event.dataTransfer.dropEffect = inside ? 'copy' : 'none'
    rectangle.value = inside ? (area()?.getBoundingClientRect() ?? null) : null
  }

  function left(event: DragEvent): void {
    // Without a related target the files have left the window.
    if (event.relatedTarget === null) rectangle.value = null
  }

  function dropped(event: DragEvent): void {
    if (!carriesFiles(event)) return
    event.preventDefault()
    rectangle.value = null
    const files = [...(event.dataTransfer?.files ?? [])]
    if (isInside(event) && files.length > 0) drop(files)
  }

  onMounted(() => {
    window.addEventListener('dragover', dragged)
    window.addEventListener('dragleave', left)
    window.addEventListener('drop', dropped)
  })
  onBeforeUnmount(() => {
    window.removeEventListener('dragover', dragged)
    window.removeEventListener('dragleave', left)
    window.removeEventListener('drop', dropped)
  })
  return { rectangle }
}
