/** For names from outside: `constructor` and `__proto__` are names like any other in it. */
export function emptyRecord<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>
}

/** What was put into a record under a name; not what every object has. */
export function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}
