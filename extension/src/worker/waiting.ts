import type { Me, PendingRequest, ServerMessage, Session } from '@ui/protocol.gen'

/** What the worker knows of the server: who waits, and where. Replaced by each snapshot. */
export interface Waiting {
  readonly requests: readonly PendingRequest[]
  readonly sessions: ReadonlyMap<string, Session>
  readonly me: Me | null
}

export const NOBODY_WAITS: Waiting = { requests: [], sessions: new Map(), me: null }

/** How it stands after a message; the same as before where the message is about something else. */
export function heard(before: Waiting, message: ServerMessage): Waiting {
  switch (message.type) {
    case 'welcome': {
      const { sessions, pending_requests, me } = message
      const byId = new Map(sessions.map((session) => [session.session_id, session]))
      return { requests: pending_requests, sessions: byId, me }
    }
    case 'session_state': {
      const { session } = message
      return { ...before, sessions: new Map(before.sessions).set(session.session_id, session) }
    }
    case 'session_removed': {
      const sessions = new Map(before.sessions)
      sessions.delete(message.session_id)
      const requests = before.requests.filter(({ session_id }) => session_id !== message.session_id)
      return { ...before, sessions, requests }
    }
    case 'request_opened':
      return {
        ...before,
        requests: [...without(before, message.pending_request), message.pending_request],
      }
    case 'request_closed':
      return { ...before, requests: without(before, message) }
    default:
      return before
  }
}

function without(before: Waiting, { request_id }: { request_id: string }): PendingRequest[] {
  return before.requests.filter((request) => request.request_id !== request_id)
}
