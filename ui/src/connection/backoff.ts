const FIRST_DELAY = 500
const LONGEST_DELAY = 15_000

/**
 * How long to wait before attempt number `attempt` (from 0), in milliseconds.
 * Half of it is random, so that many tabs do not return in the same instant.
 */
export function backoffDelay(attempt: number, random: number): number {
  const ceiling = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(attempt, 10))
  return Math.round(ceiling / 2 + (ceiling / 2) * random)
}
