/**
 * One value in the browser's storage. What is kept by an earlier version, or by a hand, may be
 * anything; it counts when it is what is expected.
 */
export interface Kept<T> {
  read(): Promise<T | null>
  write(value: T): Promise<void>
  forget(): Promise<void>
  /** Calls back with each later value, in all pages and in the worker. */
  watch(changed: (value: T | null) => void): () => void
}

/** `local` outlives the browser and is never synchronised; `session` lasts as long as it runs. */
export type Area = 'local' | 'session'

export function kept<T>(area: Area, key: string, isExpected: (value: unknown) => boolean): Kept<T> {
  const storage = () => chrome.storage[area]
  const checked = (value: unknown): T | null => (isExpected(value) ? (value as T) : null)

  return {
    read: async () => checked((await storage().get(key))[key]),
    write: (value) => storage().set({ [key]: value }),
    forget: () => storage().remove(key),
    watch(changed) {
      const listener = (changes: Record<string, chrome.storage.StorageChange>): void => {
        const change = changes[key]
        if (change !== undefined) changed(checked(change.newValue))
      }
      storage().onChanged.addListener(listener)
      return () => storage().onChanged.removeListener(listener)
    },
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
