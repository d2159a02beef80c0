/**
 * Walks through earlier messages with the arrow keys, as in a shell. It only
 * replaces an empty field or a message that it brought itself and nobody changed.
 */
export interface History {
  earlier: (text: string) => string | null
  later: (text: string) => string | null
}

/** `entries` are the earlier messages, oldest first. */
export function useHistory(entries: () => readonly string[]): History {
  let walked: readonly string[] = []
  let index = 0

  const isRecalled = (text: string): boolean => text !== '' && walked[index] === text

  function earlier(text: string): string | null {
    if (text === '') {
      walked = entries()
      index = walked.length
    } else if (!isRecalled(text)) return null
    if (index === 0) return null
    index -= 1
    return walked[index] ?? null
  }

  function later(text: string): string | null {
    if (!isRecalled(text)) return null
    index += 1
    return walked[index] ?? ''
  }

  return { earlier, later }
}

/** What was said in the session, with what this tab sent since; repetitions only once. */
export function mergeHistory(said: readonly string[], sent: readonly string[]): string[] {
  const known = new Set(said)
  return [...said, ...sent.filter((text) => !known.has(text))].filter(
    (text, index, all) => text !== '' && text !== all[index - 1],
  )
}
