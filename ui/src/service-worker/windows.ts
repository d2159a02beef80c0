/** A window of this app, as far as choosing one needs it. */
export interface Candidate {
  url: string
  visibilityState: DocumentVisibilityState
}

/** The tab that shows it already, or the one that is in view, or the one that was last in use. */
export function bestWindow<T extends Candidate>(windows: readonly T[], path: string): T | null {
  const [page] = path.split('?')
  const there = windows.find(({ url }) => new URL(url).pathname === page)
  const inView = windows.find(({ visibilityState }) => visibilityState === 'visible')
  return there ?? inView ?? windows[0] ?? null
}
