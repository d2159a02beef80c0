import type { ContextUse, Tokens } from '../../protocol.gen'

/** From here on the agent will soon have to forget. */
const NEARLY_FULL = 0.9

export interface ContextWords {
  /** 0 to 1; `null` while the size of the window is not known. */
  share: number | null
  nearlyFull: boolean
  /** `62%`, or `124k tokens` without a window. */
  short: string
  /** `62% of context` */
  long: string
  /** `124,018 of 200,000 tokens` */
  exact: string
}

export function contextWords({ used, window }: ContextUse): ContextWords {
  if (window === null || window <= 0) {
    const short = `${compactNumber(used)} tokens`
    const exact = `${used.toLocaleString()} tokens in context`
    return { share: null, nearlyFull: false, short, long: `${short} in context`, exact }
  }
  const share = Math.min(1, used / window)
  const short = `${Math.round(share * 100)}%`
  return {
    share,
    nearlyFull: share >= NEARLY_FULL,
    short,
    long: `${short} of context`,
    exact: `${used.toLocaleString()} of ${window.toLocaleString()} tokens`,
  }
}

export function totalTokens({ input, output, cache_read, cache_write }: Tokens): number {
  return input + output + cache_read + cache_write
}

/** `950`, `12.4k`, `3.1M`. */
export function compactNumber(value: number): string {
  if (value < 1000) return String(value)
  const [scaled, unit] = value < 999_500 ? [value / 1000, 'k'] : [value / 1_000_000, 'M']
  return `${scaled < 100 ? Number(scaled.toFixed(1)) : Math.round(scaled)}${unit}`
}
