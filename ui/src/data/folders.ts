import { getJson } from '../connection/rest'
import type { Conversation, Conversations, FolderMatches, Session } from '../protocol.gen'

/** The folders whose path begins with what was typed. */
export function completeFolder(path: string, signal?: AbortSignal): Promise<FolderMatches> {
  return getJson('/api/folders', { path }, signal)
}

/** What was said to Claude Code in a folder outside of Sayso, newest first. */
export async function conversationsIn(cwd: string, signal?: AbortSignal): Promise<Conversation[]> {
  const answer = await getJson<Conversations>('/api/conversations', { cwd }, signal)
  return answer.conversations
}

/** The folders of the newest sessions, each once. */
export function recentFolders(newestFirst: readonly Session[], most: number): string[] {
  const folders = new Set<string>()
  for (const { cwd } of newestFirst) {
    if (folders.size === most) break
    folders.add(cwd)
  }
  return [...folders]
}

/** As far as every path goes the same way: what Tab can fill in without guessing. */
export function commonStart(paths: readonly string[]): string {
  const [first = '', ...others] = paths
  let length = first.length
  for (const other of others) {
    while (!other.startsWith(first.slice(0, length))) length -= 1
  }
  return first.slice(0, length)
}
