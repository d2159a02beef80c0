import { computed, shallowRef, type Ref } from 'vue'

import type { ListItem } from './useItems'

/** A selection over more rows than this is let go, so that the list stays light. */
const MOST_KEPT = 200

/**
 * The rows that must stay in the page although they are out of view: those
 * that hold the reader's selection or the focus.
 */
export function useKeptRows(
  box: Readonly<Ref<HTMLElement | null>>,
  items: Readonly<Ref<ListItem[]>>,
) {
  const keys = shallowRef<ReadonlySet<string>>(new Set())
  const keptRows = computed(() => {
    if (keys.value.size === 0) return []
    return items.value.flatMap(({ key }, index) => (keys.value.has(key) ? [index] : []))
  })

  function indexOf(node: Node | null | undefined): number[] {
    const element = node instanceof Element ? node : node?.parentElement
    if (!element || box.value?.contains(element) !== true) return []
    const index = element.closest<HTMLElement>('[data-index]')?.dataset.index
    return index === undefined ? [] : [Number(index)]
  }

  function update(): void {
    const selection = document.getSelection()
    const isSelecting = selection !== null && !selection.isCollapsed
    const ends = isSelecting
      ? [...indexOf(selection.anchorNode), ...indexOf(selection.focusNode)]
      : []
    const [first, last] = [Math.min(...ends), Math.max(...ends)]
    const selected = last - first <= MOST_KEPT ? items.value.slice(first, last + 1) : []
    const focused = indexOf(document.activeElement).flatMap((index) => items.value[index] ?? [])
    const next = new Set([...selected, ...focused].map(({ key }) => key))
    if (next.size > 0 || keys.value.size > 0) keys.value = next
  }

  return { keptRows, update }
}
