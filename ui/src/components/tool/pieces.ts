import type { Token } from '../../text/code'
import { chips, type Chip } from '../../text/visible'

/** A stretch of text with one look, or a chip in place of what cannot be seen. */
export interface Piece {
  text: string
  className: string
  chip: Chip | null
}

/**
 * A text in rows of pieces. A row begins where `breaks` says, in UTF-16 code
 * units, whether or not the text has a line break there; a chip is never cut.
 */
export function pieceRows(
  text: string,
  tokens: readonly Token[],
  breaks: readonly number[],
): Piece[][] {
  const waitingChips = chips(text)
  const waitingBreaks = [...new Set(breaks)]
    .filter((at) => at > 0 && at < text.length)
    .sort((one, other) => one - other)
  let chipIndex = 0
  let breakIndex = 0
  let row: Piece[] = []
  const rows = [row]
  let position = 0
  let tokenEnd = 0
  for (const { text: tokenText, className } of tokens) {
    tokenEnd += tokenText.length
    while (position < tokenEnd) {
      const chip = waitingChips[chipIndex]
      const nextBreak = waitingBreaks[breakIndex] ?? Infinity
      if (nextBreak <= position) {
        breakIndex++
        row = []
        rows.push(row)
      } else if (chip?.from === position) {
        row.push({ text: chip.label, className: '', chip })
        chipIndex++
        position = chip.to
      } else {
        const end = Math.min(tokenEnd, nextBreak, chip?.from ?? Infinity)
        row.push({ text: text.slice(position, end), className, chip: null })
        position = end
      }
    }
  }
  return rows
}
