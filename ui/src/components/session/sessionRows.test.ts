import { expect, test } from 'vitest'

import type { Session } from '../../protocol.gen'
import { makeAlert, makeSession } from '../../testing/fixtures'
import { sessionRows, type SessionListView } from './sessionRows'

const SESSIONS: Session[] = [
  makeSession({ session_id: 'login', title: 'Fix login', cwd: '/srv/api', model: 'opus' }),
  makeSession({ session_id: 'design', title: 'Redesign', cwd: '/srv/web', model: 'haiku' }),
  makeSession({ session_id: 'docs', title: 'Write docs', cwd: '/srv/api' }),
  makeSession({ session_id: 'old', title: 'Old login', cwd: '/srv/web', archived: true }),
]

/** The list in short: folders as paths, sessions as ids. */
function shown(view: Partial<SessionListView>, sessions = SESSIONS): string[] {
  const rows = sessionRows(sessions, {
    query: '',
    collapsed: new Set(),
    showsArchive: false,
    waiting: () => 0,
    ...view,
  })
  return rows.map((row) => {
    if (row.kind === 'session') return row.session.session_id
    if (row.kind === 'archive') return `Archived (${row.count})`
    return `${row.cwd}${row.collapsed ? ` +${row.count}` : ''}${row.waiting ? ` !${row.waiting}` : ''}`
  })
}

const waiting =
  (...ids: string[]) =>
  (id: string): number =>
    ids.filter((other) => other === id).length
const EVERYTHING = ['/srv/api', 'login', 'docs', '/srv/web', 'design', 'Archived (1)']

test.each<[string, Partial<SessionListView>, string[]]>([
  ['by folder, the newest first', {}, EVERYTHING],
  ['with its archive open', { showsArchive: true }, [...EVERYTHING, 'old']],
  [
    'with a folder closed',
    { collapsed: new Set(['/srv/api']) },
    ['/srv/api +2', '/srv/web', 'design', 'Archived (1)'],
  ],
  [
    'with a closed folder where two requests wait',
    { collapsed: new Set(['/srv/api']), waiting: waiting('docs', 'docs') },
    ['/srv/api +2 !2', '/srv/web', 'design', 'Archived (1)'],
  ],
  [
    'with an archived session that waits in its place',
    { waiting: waiting('old') },
    ['/srv/api', 'login', 'docs', '/srv/web !1', 'design', 'old'],
  ],
  ['searched by title', { query: 'LOGIN' }, ['/srv/api', 'login', 'Archived (1)']],
  ['searched by folder', { query: 'web' }, ['/srv/web', 'design', 'Archived (1)']],
  ['searched by model', { query: 'haiku' }, ['/srv/web', 'design']],
  ['searched by several words', { query: ' api  docs ' }, ['/srv/api', 'docs']],
  [
    'searched with a closed folder, which opens',
    { query: 'docs', collapsed: new Set(['/srv/api']) },
    ['/srv/api', 'docs'],
  ],
  ['searched in vain', { query: 'nothing' }, []],
])('the list is shown %s', (_name, view, expected) => {
  expect(shown(view)).toEqual(expected)
})

test('where something ran unasked is not put away, and its closed folder says so', () => {
  const sessions = SESSIONS.map((session) =>
    session.archived ? { ...session, alert: makeAlert() } : session,
  )
  expect(shown({}, sessions)).toEqual(['/srv/api', 'login', 'docs', '/srv/web', 'design', 'old'])
  const view = { query: '', collapsed: new Set(['/srv/web']), showsArchive: false }
  const rows = sessionRows(sessions, { ...view, waiting: () => 0 })
  expect(rows.at(-1)).toMatchObject({ kind: 'folder', cwd: '/srv/web', alerted: 1 })
})
