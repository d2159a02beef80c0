import type { ActionKind, ErrorMessage } from '../protocol.gen'
import type { OpenMessage } from './messages'
import { decided, type Notice, type NoticeOptions, ownPath, undecided } from './notices'
import { bestWindow } from './windows'

/** Goes to a page of the app: in a tab that is there, or else in a new one. */
export async function open(clients: Clients, data: unknown): Promise<void> {
  const path = ownPath((data as { path?: string } | null)?.path ?? '/')
  const windows = await clients.matchAll({ type: 'window', includeUncontrolled: true })
  const chosen = bestWindow(windows, path)
  try {
    if (chosen === null) throw new Error('There is no tab.')
    const focused = await chosen.focus()
    focused.postMessage({ type: 'sayso.open', path } satisfies OpenMessage)
  } catch {
    // Also when the browser does not let a tab come to the front.
    await clients.openWindow(path)
  }
}

/** Presses a button, and says what became of it. */
export async function act(kind: ActionKind, shown: NoticeOptions, room: number): Promise<Notice> {
  const token = shown.data.tokens[kind]
  const { path } = shown.data
  if (token === undefined) return undecided(shown, 'Open Sayso to decide it.', false, room)
  let response: Response
  try {
    response = await fetch('/api/notifications/act', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token }),
    })
  } catch {
    return undecided(shown, 'Sayso could not be reached. Try again, or open it.', true, room)
  }
  if (response.ok) return decided(kind, shown.body ?? '', path)
  return undecided(shown, await reason(response), false, room)
}

async function reason(response: Response): Promise<string> {
  try {
    return ((await response.json()) as ErrorMessage).message
  } catch {
    return `Sayso answered with status ${response.status}. Open it to decide.`
  }
}
