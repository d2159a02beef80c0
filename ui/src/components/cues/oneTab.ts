/** Does the work in one of the tabs that want to at the same moment, for as long as it takes. */
export async function inOneTab(name: string, work: () => Promise<void>): Promise<void> {
  // Only pages on https or localhost have locks; elsewhere every tab does it.
  const locks = navigator.locks as LockManager | undefined
  if (locks === undefined) return work()
  await locks.request(name, { ifAvailable: true }, (lock) => (lock === null ? undefined : work()))
}
