/**
 * Browser storage may be full, forbidden or hold something else's data. What
 * is kept there is a convenience, so failing to keep it is not an error.
 */
export function readJson<T>(
  storage: Storage,
  key: string,
  isExpected: (value: unknown) => value is T,
): T | null {
  try {
    const value: unknown = JSON.parse(storage.getItem(key) ?? 'null')
    return isExpected(value) ? value : null
  } catch {
    return null
  }
}

export function writeJson(storage: Storage, key: string, value: unknown): void {
  try {
    storage.setItem(key, JSON.stringify(value))
  } catch {
    console.warn(`Could not keep ${key} in the browser's storage.`)
  }
}

export function isString(value: unknown): value is string {
  return typeof value === 'string'
}

export function forget(storage: Storage, key: string): void {
  try {
    storage.removeItem(key)
  } catch {
    console.warn(`Could not remove ${key} from the browser's storage.`)
  }
}

export function isStringList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
