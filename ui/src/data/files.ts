import { getJson } from '../connection/rest'
import type { FileMatches } from '../protocol.gen'

const MOST_FILES = 20

/** The files and folders below `cwd` that fit what was typed, best first. */
export function findFiles(cwd: string, query: string, signal: AbortSignal): Promise<FileMatches> {
  return getJson('/api/files', { cwd, query, limit: String(MOST_FILES) }, signal)
}
