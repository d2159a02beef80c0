import { onScopeDispose, ref, watch, type Ref } from 'vue'

import { forget, readJson, writeJson } from './storage'

const PREFIX = 'sayso.request.'

/**
 * What somebody has entered for a request and not sent: kept in the browser's
 * storage until the request is closed, so that it survives a reload and is the
 * same in all tabs. `part` tells apart what one request keeps.
 */
export function useRequestDraft<T>(
  requestId: string,
  part: string,
  initial: T,
  isExpected: (value: unknown) => value is T,
): Ref<T> {
  const key = `${PREFIX}${requestId}.${part}`
  const beginning = JSON.stringify(initial)
  const read = (): T => readJson(localStorage, key, isExpected) ?? (JSON.parse(beginning) as T)
  const draft = ref(read()) as Ref<T>
  let written = JSON.stringify(draft.value)

  watch(
    draft,
    (value) => {
      const text = JSON.stringify(value)
      if (text === written) return
      written = text
      if (text === beginning) forget(localStorage, key)
      else writeJson(localStorage, key, value)
    },
    { deep: true, flush: 'sync' },
  )

  function changedElsewhere(event: StorageEvent): void {
    if (event.storageArea !== localStorage || event.key !== key) return
    const value = read()
    written = JSON.stringify(value)
    draft.value = value
  }
  window.addEventListener('storage', changedElsewhere)
  onScopeDispose(() => window.removeEventListener('storage', changedElsewhere))
  return draft
}

/** A closed request has no draft. */
export function forgetDrafts(requestId: string): void {
  forgetWhere((id) => id === requestId)
}

/** After a reconnect: what is not open any more was closed meanwhile. */
export function forgetDraftsExcept(open: ReadonlySet<string>): void {
  forgetWhere((id) => !open.has(id))
}

function forgetWhere(isOver: (requestId: string) => boolean): void {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX))
  for (const key of keys) {
    const id = key.slice(PREFIX.length).split('.')[0] ?? ''
    if (isOver(id)) forget(localStorage, key)
  }
}
