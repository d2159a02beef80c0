/**
 * Text from an agent may hold characters that a reader cannot see but a shell
 * obeys, or that reorder what is seen. Here they become visible escapes.
 */
export interface Segment {
  text: string
  escaped: boolean
}

/** Exact text (commands, paths, content) hides nothing; prose keeps what reads as writing. */
export type Strictness = 'exact' | 'prose'

const HIDDEN: Record<Strictness, RegExp> = {
  exact:
    /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{DI}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]/gu,
  prose: /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/gu,
}

export function segments(text: string, strictness: Strictness = 'exact'): Segment[] {
  const found: Segment[] = []
  let end = 0
  for (const match of text.matchAll(HIDDEN[strictness])) {
    const character = match[0]
    if (strictness === 'prose' && isPartOfEmoji(character, text, match.index)) continue
    if (match.index > end) found.push({ text: text.slice(end, match.index), escaped: false })
    found.push({ text: escape(character), escaped: true })
    end = match.index + character.length
  }
  if (end < text.length) found.push({ text: text.slice(end), escaped: false })
  return found
}

export function visible(text: string, strictness: Strictness = 'exact'): string {
  return segments(text, strictness)
    .map((segment) => segment.text)
    .join('')
}

export function hasHidden(text: string): boolean {
  return segments(text).some((segment) => segment.escaped)
}

function escape(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
}

function isPartOfEmoji(character: string, text: string, index: number): boolean {
  const before = text.slice(Math.max(0, index - 2), index)
  if (character === '\ufe0f') return /[\p{Emoji}\p{Extended_Pictographic}]$/u.test(before)
  if (character !== '\u200d') return false
  const after = text.slice(index + 1, index + 3)
  return (
    /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u.test(before) &&
    /^\p{Extended_Pictographic}/u.test(after)
  )
}
