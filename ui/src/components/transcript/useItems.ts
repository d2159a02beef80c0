import { computed, ref, watch } from 'vue'

import type { Transcript } from '../../data/transcripts'
import { Folder, gapBetween, type Gap, type LiveItem, type Item } from './fold'

/** What the list shows in one place, with a key that stays when live text becomes an entry. */
export interface ListItem {
  key: string
  item: Item | LiveItem
}

/**
 * A conversation as a flat list for the virtual list, without the entry that is
 * told elsewhere. Items whose content is the same stay the same objects, so that
 * only what is different is drawn.
 */
export function useItems(transcript: () => Transcript, toldElsewhere: () => number | null) {
  const folder = new Folder()
  const made = new WeakMap<object, ListItem>()

  function listItem(source: object, make: () => ListItem): ListItem {
    const known = made.get(source)
    if (known !== undefined) return known
    const item = make()
    made.set(source, item)
    return item
  }

  const rows = computed(() => {
    const seq = toldElsewhere()
    const { rows } = transcript()
    return seq === null ? rows : rows.filter((row) => row.seq !== seq)
  })
  const live = computed(() => transcript().live)
  const folded = computed(() => {
    const { written } = transcript()
    return folder
      .fold(rows.value)
      .map((item) =>
        listItem(item, () => ({ key: written.get(item.seq) ?? String(item.seq), item })),
      )
  })
  const items = computed(() => {
    if (live.value.length === 0) return folded.value
    const writing = live.value.map((block) =>
      listItem(block, () => ({ key: block.key, item: { type: 'live', block } })),
    )
    return [...folded.value, ...writing]
  })

  /** True while older items come in at the start: what is being read stays where it is. */
  const isPrepending = ref(false)
  watch(
    () => transcript().entries[0]?.seq ?? 0,
    (first, before) => {
      if (first < before) isPrepending.value = true
    },
    { flush: 'sync' },
  )
  watch(isPrepending, () => (isPrepending.value = false), { flush: 'post' })

  function gapBefore(index: number): Gap {
    const item = items.value[index]
    return item === undefined ? 'none' : gapBetween(items.value[index - 1]?.item, item.item)
  }

  return { items, isPrepending, gapBefore }
}
