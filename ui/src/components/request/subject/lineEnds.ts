/** Two texts to compare, and what had to be left out of sight to see the rest. */
export interface Comparable {
  before: string
  after: string
  note: string | null
}

/**
 * Files from Windows end their lines in two characters. Shown as such, every
 * line would have changed; so the difference is said once, in words. A text that
 * mixes both stays as it is.
 */
export function comparable(before: string, after: string): Comparable {
  const [old, fresh] = [endsInCrlf(before), endsInCrlf(after)]
  if (old && fresh) return { ...unix(before, after), note: 'All lines end in CRLF.' }
  if (old && !after.includes('\r\n')) {
    return { ...unix(before, after), note: 'Lines of the file end in CRLF, those written in LF.' }
  }
  if (fresh && !before.includes('\r\n') && before.includes('\n')) {
    return { ...unix(before, after), note: 'Lines of the file end in LF, those written in CRLF.' }
  }
  return { before, after, note: null }
}

function unix(before: string, after: string): { before: string; after: string } {
  return { before: unixLines(before), after: unixLines(after) }
}

export function unixLines(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** True when every line does. */
export function endsInCrlf(text: string): boolean {
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text)
}
