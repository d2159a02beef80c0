export interface DiffLine {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Lines that stand together, with where they stand in the file if that is known. */
export interface Hunk {
  oldStart: number | null
  newStart: number | null
  lines: DiffLine[]
}

/** Above this many cells the middle is shown as replaced as a whole. */
const LARGEST_TABLE = 4_000_000

/** The lines of both texts in one list, by longest common subsequence. */
export function diffLines(before: string, after: string): DiffLine[] {
  const old = splitLines(before)
  const fresh = splitLines(after)
  let start = 0
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++
  let end = 0
  while (
    end < old.length - start &&
    end < fresh.length - start &&
    old[old.length - 1 - end] === fresh[fresh.length - 1 - end]
  ) {
    end++
  }
  const middle = diffMiddle(
    old.slice(start, old.length - end),
    fresh.slice(start, fresh.length - end),
  )
  const same = (text: string): DiffLine => ({ kind: 'same', text })
  return [...old.slice(0, start).map(same), ...middle, ...old.slice(old.length - end).map(same)]
}

/** The changed lines with some around them, numbered; what is farther away is left out. */
export function changedHunks(before: string, after: string, around = 3): Hunk[] {
  const lines = diffLines(before, after)
  const isNear = nearChanges(lines, around)
  const hunks: Hunk[] = []
  let oldNumber = 1
  let newNumber = 1
  let current: Hunk | null = null
  lines.forEach((line, index) => {
    if (isNear[index] !== true) current = null
    else if (current === null) {
      current = { oldStart: oldNumber, newStart: newNumber, lines: [line] }
      hunks.push(current)
    } else current.lines.push(line)
    if (line.kind !== 'added') oldNumber++
    if (line.kind !== 'removed') newNumber++
  })
  return hunks
}

function nearChanges(lines: readonly DiffLine[], around: number): boolean[] {
  const isNear = lines.map(() => false)
  lines.forEach((line, index) => {
    if (line.kind !== 'same') isNear.fill(true, Math.max(0, index - around), index + around + 1)
  })
  return isNear
}

function splitLines(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}

function diffMiddle(old: string[], fresh: string[]): DiffLine[] {
  const removed = old.map((text): DiffLine => ({ kind: 'removed', text }))
  const added = fresh.map((text): DiffLine => ({ kind: 'added', text }))
  if (old.length * fresh.length === 0 || old.length * fresh.length > LARGEST_TABLE) {
    return [...removed, ...added]
  }
  const width = fresh.length + 1
  const common = new Uint32Array((old.length + 1) * width)
  const at = (row: number, column: number): number => common[row * width + column] ?? 0
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = fresh.length - 1; column >= 0; column--) {
      common[row * width + column] =
        old[row] === fresh[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const lines: DiffLine[] = []
  let row = 0
  let column = 0
  while (row < old.length && column < fresh.length) {
    if (old[row] === fresh[column]) {
      lines.push({ kind: 'same', text: old[row] ?? '' })
      row++
      column++
    } else if (at(row + 1, column) >= at(row, column + 1)) {
      lines.push({ kind: 'removed', text: old[row++] ?? '' })
    } else {
      lines.push({ kind: 'added', text: fresh[column++] ?? '' })
    }
  }
  return [...lines, ...removed.slice(row), ...added.slice(column)]
}
