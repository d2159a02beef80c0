import type { ActionKind, PushNotice, PushPayload } from '../protocol.gen'
import { OVER, UNREADABLE } from './tags'

/** More than the types of the language know; browsers take what they can. */
export interface NoticeOptions extends NotificationOptions {
  tag: string
  data: NoticeData
  actions?: { action: string; title: string }[]
  renotify?: boolean
  timestamp?: number
}

export interface Notice {
  title: string
  options: NoticeOptions
}

/** What a notification carries for when it is chosen. */
export interface NoticeData {
  path: string
  request_id: string | null
  tokens: Partial<Record<ActionKind, string>>
}

const LABELS: Record<ActionKind, string> = { deny: 'Deny', allow: 'Allow once' }
const OPEN = { action: 'open', title: 'Open' }
/** The second is for the line at the top of a phone. */
export const ICONS = { icon: '/icon-192.png', badge: '/badge-96.png' }

/** What is in a push message; null when it is none of ours. */
export function readPayload(text: string): PushPayload | null {
  try {
    const value = JSON.parse(text) as Partial<PushPayload> | null
    const isOurs = value?.type === 'show' || value?.type === 'withdraw'
    // The server is the same build as this worker, or nearly; what it adds is not looked at.
    return isOurs && typeof value.tag === 'string' ? (value as PushPayload) : null
  } catch {
    return null
  }
}

/** `room` is how many buttons the browser has; the notification itself opens Sayso in any case. */
export function noticeOf(notice: PushNotice, room: number): Notice {
  const tokens: NoticeData['tokens'] = {}
  for (const { action, token } of notice.actions) tokens[action] = token
  const data = { path: ownPath(notice.path), request_id: notice.request_id ?? null, tokens }
  return {
    title: notice.title,
    options: {
      ...ICONS,
      body: notice.body,
      tag: notice.tag,
      data,
      actions: buttonsOf(data, room),
      // An agent waits until somebody answers, and so does this.
      requireInteraction: data.request_id !== null,
      renotify: notice.reminder,
    },
  }
}

function buttonsOf({ tokens }: NoticeData, room: number): { action: string; title: string }[] {
  const kinds = (['deny', 'allow'] as const).filter((kind) => tokens[kind] !== undefined)
  const buttons = kinds.map((kind) => ({ action: kind as string, title: LABELS[kind] }))
  return [...buttons, OPEN].slice(0, room)
}

/** Something came and it must not be hidden, whatever it was. */
export function unreadable(): Notice {
  const body = 'Something waits for you. Open Sayso to see it.'
  return { title: 'Sayso', options: plain(body, UNREADABLE, '/') }
}

/** Said when nothing is left of what was said. */
export function over(): Notice {
  const options = plain('What Sayso told you of is over.', OVER, '/')
  return { title: 'Nothing waits any more', options: { ...options, silent: true } }
}

/** What became of a button. */
export function decided(kind: ActionKind, body: string, path: string): Notice {
  const title = kind === 'deny' ? 'Denied' : 'Allowed once'
  return { title, options: { ...plain(body, OVER, path), silent: true } }
}

/** It may still wait: this stays where the other was, until it is over. `again` when the button is still good. */
export function undecided(
  before: NoticeOptions,
  why: string,
  again: boolean,
  room: number,
): Notice {
  const data = { ...before.data, tokens: again ? before.data.tokens : {} }
  return {
    title: 'Nothing was decided',
    options: {
      ...plain(why, before.tag, data.path),
      data,
      actions: buttonsOf(data, room),
      requireInteraction: true,
      renotify: true,
    },
  }
}

function plain(body: string, tag: string, path: string): NoticeOptions {
  return { ...ICONS, body, tag, data: { path, request_id: null, tokens: {} } }
}

/** A page of this server, whatever was sent. */
export function ownPath(path: string): string {
  return /^\/(?![/\\])/.test(path) ? path : '/'
}

/** A notification that is on the screen. */
export type Shown = Pick<Notification, 'title' | 'tag'>

/**
 * Browsers want each push to show something, and end the subscription of a page that does not. So what is taken
 * back leaves one line without a sound, unless something else is there: that is shown once more as it is.
 */
export function afterWithdrawal<T extends Shown>(shown: readonly T[], tag: string): T | null {
  const others = shown.filter((notification) => notification.tag !== tag)
  return others.at(-1) ?? null
}
