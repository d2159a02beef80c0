import { spanText } from './words'

/** What can be chosen; what was set by other means is among them. */
export interface Span {
  seconds: number
  label: string
}

const AFTER = [0, 15, 30, 60, 120, 300, 600, 1800, 3600]
const REMIND = [0, 30, 60, 120, 300, 600]

export const afterSpans = (current: number): Span[] =>
  spans(AFTER, current, 'At once', (text) => `After ${text} without an answer`)

export const remindSpans = (current: number): Span[] =>
  spans(REMIND, current, 'Never', (text) => `${text} before the time is over`)

function spans(
  offered: readonly number[],
  current: number,
  none: string,
  words: (text: string) => string,
): Span[] {
  const all = [...new Set([...offered, current])].sort((one, other) => one - other)
  return all.map((seconds) => ({ seconds, label: seconds === 0 ? none : words(spanText(seconds)) }))
}
