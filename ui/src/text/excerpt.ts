export interface Excerpt {
  shown: string
  /** What is left out, for the button that brings it. */
  hiddenLines: number
  hiddenBytes: number
}

/** A line counts as several when it is longer than this. */
const LINE_LENGTH = 400

/** The first or last lines of a long text. One that is only a little longer is shown whole. */
export function excerpt(text: string, lines: number, from: 'start' | 'end'): Excerpt {
  const all = text.split('\n')
  const longest = lines * LINE_LENGTH
  if (all.length <= lines * 1.3 && text.length <= longest * 1.3) {
    return { shown: text, hiddenLines: 0, hiddenBytes: 0 }
  }
  const kept = (from === 'start' ? all.slice(0, lines) : all.slice(-lines)).join('\n')
  const shown = from === 'start' ? kept.slice(0, longest) : kept.slice(-longest)
  return {
    shown,
    hiddenLines: all.length - shown.split('\n').length,
    hiddenBytes: new Blob([text]).size - new Blob([shown]).size,
  }
}
