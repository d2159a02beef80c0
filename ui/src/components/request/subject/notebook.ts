import { isRecord } from '../../tool/present'

export interface Cell {
  id: string | null
  type: string
  source: string
}

export interface Notebook {
  cells: Cell[]
  /** The ending of a file in the notebook's language, such as `.py`. */
  extension: string
}

/** Null when the text is no notebook. */
export function readNotebook(text: string): Notebook | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (!isRecord(value) || !Array.isArray(value.cells)) return null
  const cells = value.cells.map(readCell)
  const extension = extensionIn(value.metadata)
  return cells.every((cell) => cell !== null) ? { cells, extension } : null
}

function readCell(value: unknown): Cell | null {
  if (!isRecord(value) || typeof value.cell_type !== 'string') return null
  const { id, cell_type: type, source } = value
  const text = Array.isArray(source) ? source.join('') : source
  if (typeof text !== 'string') return null
  return { id: typeof id === 'string' ? id : null, type, source: text }
}

function extensionIn(metadata: unknown): string {
  const language = isRecord(metadata) ? metadata.language_info : undefined
  const extension = isRecord(language) ? language.file_extension : undefined
  return typeof extension === 'string' ? extension : '.py'
}

/** By its id, or as `cell-3` by its place, which counts from zero. */
export function findCell(notebook: Notebook, id: string): Cell | null {
  const named = notebook.cells.find((cell) => cell.id === id)
  if (named !== undefined) return named
  const place = /^(?:cell-)?(\d+)$/.exec(id)?.[1]
  return (place === undefined ? undefined : notebook.cells[Number(place)]) ?? null
}

export type CellMode = 'replace' | 'insert' | 'delete'

export function isCellMode(value: unknown): value is CellMode {
  return value === 'replace' || value === 'insert' || value === 'delete'
}

/** What happens to which cell, in words. */
export function cellText(mode: CellMode, cell: string | null, type: string | null): string {
  const kind = type === null ? 'cell' : `${type} cell`
  switch (mode) {
    case 'insert':
      return cell === null
        ? `Inserts a ${kind} at the beginning`
        : `Inserts a ${kind} after the cell “${cell}”`
    case 'delete':
      return `Deletes the ${kind} ${named(cell)}`
    case 'replace':
      return `Replaces the ${kind} ${named(cell)}`
  }
}

function named(cell: string | null): string {
  return cell === null ? 'that the agent does not name' : `“${cell}”`
}
