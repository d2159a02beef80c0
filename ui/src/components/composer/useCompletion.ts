import { computed, onBeforeUnmount, ref, shallowRef, type ComputedRef, type Ref } from 'vue'

import { useFeatures } from '../../data/features'
import { findFiles } from '../../data/files'
import type { Session } from '../../protocol.gen'
import {
  commandOption,
  fileOption,
  findTrigger,
  isComplete,
  matchCommands,
  type Option,
  type Trigger,
} from './completion'

const DEBOUNCE = 80

export interface Completion {
  isOpen: ComputedRef<boolean>
  kind: ComputedRef<Trigger['kind'] | null>
  options: Ref<readonly Option[]>
  active: Ref<number>
  /** Nothing fits what was typed after `@`. */
  isEmpty: ComputedRef<boolean>
  /** The text or the caret changed under somebody's hands. */
  changed: (text: string, caret: number) => void
  close: () => void
  /** True when the key was for the list. */
  pressed: (event: KeyboardEvent) => boolean
  choose: (index: number) => void
}

/** Completes `@file` and `/command` at the caret. `insert` replaces a part of the text. */
export function useCompletion(
  session: () => Session,
  insert: (start: number, end: number, text: string) => void,
): Completion {
  const features = useFeatures()
  const trigger = shallowRef<Trigger | null>(null)
  const options = shallowRef<readonly Option[]>([])
  const active = ref(0)
  const searched = ref(false)
  /** Where the list was closed with Esc: it stays closed for that word. */
  let dismissedAt: number | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let search: AbortController | null = null

  const isEmpty = computed(
    () => trigger.value?.kind === 'file' && searched.value && options.value.length === 0,
  )
  const isOpen = computed(
    () => trigger.value !== null && (options.value.length > 0 || isEmpty.value),
  )
  const kind = computed(() => trigger.value?.kind ?? null)

  function changed(text: string, caret: number): void {
    const found = findTrigger(text, caret)
    if (found === null) {
      dismissedAt = null
      return close()
    }
    if (found.start === dismissedAt) return
    const isSameWord = trigger.value?.kind === found.kind && trigger.value.start === found.start
    if (!isSameWord) close()
    else if (trigger.value?.query === found.query && trigger.value.end === found.end) return
    trigger.value = found
    if (found.kind === 'command') show(matchingCommands(found.query))
    else searchSoon(found.query)
  }

  function matchingCommands(query: string): Option[] {
    const { commands } = features.get(session().session_id)
    return matchCommands(commands, query).map(commandOption)
  }

  /** The former results stay while the next ones are looked for. */
  function searchSoon(query: string): void {
    cancelSearch()
    timer = setTimeout(() => void searchFiles(query), DEBOUNCE)
  }

  async function searchFiles(query: string): Promise<void> {
    const controller = new AbortController()
    search = controller
    try {
      const { files } = await findFiles(session().cwd, query, controller.signal)
      if (search !== controller) return
      searched.value = true
      show(files.map(({ path }) => fileOption(path)))
    } catch {
      // A list that cannot be had is no reason to disturb somebody who types.
      if (search === controller) show([])
    }
  }

  function show(found: readonly Option[]): void {
    options.value = found
    active.value = 0
  }

  function cancelSearch(): void {
    clearTimeout(timer)
    search?.abort()
    search = null
  }

  function close(): void {
    cancelSearch()
    trigger.value = null
    options.value = []
    searched.value = false
  }

  function choose(index: number): void {
    const option = options.value[index]
    const { start, end } = trigger.value ?? {}
    if (option === undefined || start === undefined || end === undefined) return
    close()
    insert(start, end, option.insert)
  }

  function pressed(event: KeyboardEvent): boolean {
    if (!isOpen.value || event.ctrlKey || event.metaKey || event.altKey) return false
    const isTaken = act(event)
    if (isTaken) event.preventDefault()
    return isTaken
  }

  function act({ key, shiftKey }: KeyboardEvent): boolean {
    if (key === 'Escape') {
      dismissedAt = trigger.value?.start ?? null
      close()
      return true
    }
    const count = options.value.length
    if (count === 0 || shiftKey) return false
    if (key === 'ArrowDown') active.value = (active.value + 1) % count
    else if (key === 'ArrowUp') active.value = (active.value + count - 1) % count
    else if (key === 'Tab') choose(active.value)
    else if (key === 'Enter') return takeWithEnter()
    else return false
    return true
  }

  function takeWithEnter(): boolean {
    const option = options.value[active.value]
    if (trigger.value === null || option === undefined) return false
    if (isComplete(trigger.value, option)) {
      close()
      return false
    }
    choose(active.value)
    return true
  }

  onBeforeUnmount(cancelSearch)
  return { isOpen, kind, options, active, isEmpty, changed, close, pressed, choose }
}
