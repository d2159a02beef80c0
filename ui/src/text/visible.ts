/**
 * Text from an agent may hold characters that a reader cannot see but a shell
 * obeys, that reorder what is seen, or that push the rest out of sight. Here
 * they become chips: visible words in their place.
 */
export interface Chip {
  from: number
  to: number
  label: string
  /** What it stands for, for the pointer that rests on it. */
  title: string
}

export interface Segment {
  text: string
  /** Of a chip; null for text as it is. */
  title: string | null
}

/**
 * Exact text (commands, paths, content) hides nothing; output of programs keeps
 * its columns; prose keeps what reads as writing.
 */
export type Strictness = 'exact' | 'output' | 'prose'

const UNSEEN =
  '(?![\\n\\t])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}\\p{DI}' +
  '\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u2800\\u3000]'
/** Five blank lines or more; the line break after the last of them is not part of it. */
const BLANK_LINES = '(?<=^|\\n)[ \\t]*(?:\\n[ \\t]*){4,}(?=\\n)'
/** Indentation may be deep; elsewhere a shorter run can already hide what follows. */
const BLANKS = '(?<=^|\\n)[ \\t]{40,}|(?<!^|[\\n \\t])[ \\t]{16,}'

const HIDDEN: Record<Strictness, RegExp> = {
  exact: new RegExp(`${BLANK_LINES}|${BLANKS}|${UNSEEN}`, 'gu'),
  output: new RegExp(UNSEEN, 'gu'),
  prose: /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/gu,
}

/** What has to be made visible, in order; nothing overlaps. */
export function chips(text: string, strictness: Strictness = 'exact'): Chip[] {
  const found: Chip[] = []
  for (const { 0: match, index: from } of text.matchAll(HIDDEN[strictness])) {
    if (strictness === 'prose' && isPartOfEmoji(match, text, from)) continue
    found.push({ from, to: from + match.length, ...chipWords(match) })
  }
  return found
}

export function segments(text: string, strictness: Strictness = 'exact'): Segment[] {
  const found: Segment[] = []
  let end = 0
  for (const { from, to, label, title } of chips(text, strictness)) {
    if (from > end) found.push({ text: text.slice(end, from), title: null })
    found.push({ text: label, title })
    end = to
  }
  if (end < text.length) found.push({ text: text.slice(end), title: null })
  return found
}

export function visible(text: string, strictness: Strictness = 'exact'): string {
  return segments(text, strictness)
    .map((segment) => segment.text)
    .join('')
}

function chipWords(match: string): { label: string; title: string } {
  if (match.includes('\n')) {
    const label = `${match.split('\n').length} blank lines`
    return { label: `⟨${label}⟩`, title: `${label} in a row stand here` }
  }
  if (/^[ \t]/.test(match)) {
    const label = `${match.length} ${nameBlanks(match)}`
    return { label: `⟨${label}⟩`, title: `${label} in a row stand here` }
  }
  const code = match.codePointAt(0) ?? 0
  const point = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  const name = NAMES[code]
  const title = 'A character that cannot be seen'
  return { label: `⟨${point}⟩`, title: name === undefined ? title : `${title}: ${name}` }
}

function nameBlanks(blanks: string): string {
  if (!blanks.includes('\t')) return 'spaces'
  return blanks.includes(' ') ? 'spaces and tabs' : 'tabs'
}

/** Those that are met most often, or matter most. */
const NAMES: Partial<Record<number, string>> = {
  0x00: 'null',
  0x07: 'bell',
  0x08: 'backspace',
  0x0d: 'carriage return',
  0x1b: 'escape, which controls a terminal',
  0x7f: 'delete',
  0xa0: 'no-break space',
  0xad: 'soft hyphen',
  0x200b: 'zero width space',
  0x200c: 'zero width non-joiner',
  0x200d: 'zero width joiner',
  0x200e: 'left-to-right mark',
  0x200f: 'right-to-left mark',
  0x2028: 'line separator',
  0x2029: 'paragraph separator',
  0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding',
  0x202c: 'end of a change of direction',
  0x202d: 'left-to-right override',
  0x202e: 'right-to-left override',
  0x2060: 'word joiner',
  0x2066: 'left-to-right isolate',
  0x2067: 'right-to-left isolate',
  0x2068: 'first strong isolate',
  0x2069: 'end of an isolate',
  0xfeff: 'byte order mark',
}

function isPartOfEmoji(character: string, text: string, index: number): boolean {
  const before = [...text.slice(Math.max(0, index - 2), index)].at(-1) ?? ''
  if (character === '\ufe0f') return /^[\p{Emoji}\p{Extended_Pictographic}]/u.test(before)
  if (character !== '\u200d') return false
  const after = text.slice(index + 1, index + 3)
  return (
    /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]/u.test(before) &&
    /^\p{Extended_Pictographic}/u.test(after)
  )
}
