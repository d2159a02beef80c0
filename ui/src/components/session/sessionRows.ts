import type { Session } from '../../protocol.gen'
import { sessionTitle } from './words'

/** One line of the session list. */
export type SessionRow =
  | {
      kind: 'folder'
      key: string
      cwd: string
      count: number
      waiting: number
      alerted: number
      collapsed: boolean
    }
  | { kind: 'session'; key: string; session: Session }
  | { kind: 'archive'; key: string; count: number; open: boolean }

export interface SessionListView {
  query: string
  collapsed: ReadonlySet<string>
  showsArchive: boolean
  /** How many requests of a session are open. */
  waiting: (sessionId: string) => number
}

/**
 * The list as it is shown: by folder, the folder of the newest session first.
 * Archived sessions come last and on demand, except those that need somebody.
 */
export function sessionRows(newestFirst: readonly Session[], view: SessionListView): SessionRow[] {
  const matches = matcher(view.query)
  const found = newestFirst.filter(matches)
  const isPutAway = ({ archived, alert, session_id }: Session): boolean =>
    archived && alert === undefined && view.waiting(session_id) === 0
  const archived = found.filter(isPutAway)
  const rows = grouped(found.filter((session) => !isPutAway(session))).flatMap((group) =>
    rowsOfFolder(group, view),
  )
  if (archived.length === 0) return rows
  const open = view.showsArchive
  const head: SessionRow = { kind: 'archive', key: 'archive', count: archived.length, open }
  return [...rows, head, ...(open ? archived.map(rowOfSession) : [])]
}

interface Folder {
  cwd: string
  sessions: Session[]
}

function grouped(sessions: readonly Session[]): Folder[] {
  const folders = new Map<string, Folder>()
  for (const session of sessions) {
    const folder = folders.get(session.cwd)
    if (folder === undefined) folders.set(session.cwd, { cwd: session.cwd, sessions: [session] })
    else folder.sessions.push(session)
  }
  return [...folders.values()]
}

function rowsOfFolder({ cwd, sessions }: Folder, view: SessionListView): SessionRow[] {
  const waiting = sessions.reduce((sum, { session_id }) => sum + view.waiting(session_id), 0)
  // What somebody searched for is never inside a closed folder.
  const collapsed = view.query.trim() === '' && view.collapsed.has(cwd)
  const head: SessionRow = {
    ...{ kind: 'folder', key: `folder ${cwd}`, cwd, count: sessions.length },
    ...{ waiting, alerted: sessions.filter(({ alert }) => alert !== undefined).length, collapsed },
  }
  return collapsed ? [head] : [head, ...sessions.map(rowOfSession)]
}

function rowOfSession(session: Session): SessionRow {
  return { kind: 'session', key: session.session_id, session }
}

/** Every word must be somewhere in the title, the folder or the model. */
function matcher(query: string): (session: Session) => boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return (session) => {
    if (words.length === 0) return true
    const text = `${sessionTitle(session)}\n${session.cwd}\n${session.model ?? ''}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
}
