import { shallowRef, watch, type ShallowRef } from 'vue'

import { isStringList, readJson, writeJson } from './storage'

/** A set of names that this browser remembers. */
export function rememberedSet(key: string): ShallowRef<ReadonlySet<string>> {
  const names = shallowRef<ReadonlySet<string>>(
    new Set(readJson(localStorage, key, isStringList) ?? []),
  )
  watch(names, (now) => writeJson(localStorage, key, [...now]))
  return names
}

/** The same set with `name` in it when it was not, and without it when it was. */
export function toggled(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(names)
  if (!next.delete(name)) next.add(name)
  return next
}
