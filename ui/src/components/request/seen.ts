/** What has been in view of something that scrolls, as stretches of its height. */
export type Stretch = readonly [from: number, to: number]

/** Adds a stretch; those that touch become one. */
export function addStretch(seen: readonly Stretch[], added: Stretch): Stretch[] {
  let [from, to] = added
  const apart = seen.filter(([start, end]) => {
    const touches = start <= to && end >= from
    if (touches) [from, to] = [Math.min(from, start), Math.max(to, end)]
    return !touches
  })
  return [...apart, [from, to] as const].sort(([one], [other]) => one - other)
}

/** The first part of the height that has not been in view; null when all of it has. */
export function firstUnseen(seen: readonly Stretch[], height: number): Stretch | null {
  // Heights are rounded by the browser, each by itself.
  const SLACK = 2
  let reached = 0
  for (const [from, to] of seen) {
    if (from > reached + SLACK) return [reached, from]
    reached = Math.max(reached, to)
  }
  return reached + SLACK >= height ? null : [reached, height]
}

/** How much of the height has not been in view. */
export function unseenHeight(seen: readonly Stretch[], height: number): number {
  const covered = seen.reduce((sum, [from, to]) => sum + Math.min(to, height) - from, 0)
  return Math.max(0, height - covered)
}
