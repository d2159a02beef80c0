/**
 * The service worker: shows what the server pushes, takes it back, carries out the buttons of notifications, and
 * opens the app when the server cannot be reached. It lives beside all tabs, and also when there are none.
 */
import type { ActionKind, PushPayload } from '../protocol.gen'
import { act, open } from './clicking'
import {
  afterWithdrawal,
  type Notice,
  noticeOf,
  type NoticeOptions,
  over,
  readPayload,
  unreadable,
} from './notices'
import { Offline } from './offline'
import { renew } from './renewing'
import { type Shell, wayOf } from './shell'
import { OVER } from './tags'

declare const self: ServiceWorkerGlobalScope
/** Put in by the build. */
declare const SHELL: Shell

const offline = new Offline(SHELL)

self.addEventListener('install', (event) => {
  // An update takes over at once: pages of the build before are told, and find nothing of theirs replaced.
  event.waitUntil(offline.keep().then(() => self.skipWaiting()))
})

self.addEventListener('activate', (event) => {
  event.waitUntil(offline.removeOutdated().then(() => self.clients.claim()))
})

self.addEventListener('fetch', (event) => {
  const way = wayOf(event.request, self.location.origin, SHELL)
  if (way !== 'untouched') event.respondWith(offline.answer(event.request, way))
})

self.addEventListener('push', (event) => {
  const payload = readPayload(event.data?.text() ?? '')
  event.waitUntil(pushed(payload))
})

self.addEventListener('notificationclick', (event) => {
  const { notification, action } = event
  notification.close()
  const isButton = action === 'deny' || action === 'allow'
  event.waitUntil(
    isButton ? press(action, notification) : open(self.clients, notification.data as unknown),
  )
})

self.addEventListener('pushsubscriptionchange', (event) => {
  // Not a failure of anybody's: the page finds out when it is opened next.
  ;(event as ExtendableEvent).waitUntil(renew(self.registration.pushManager).catch(() => undefined))
})

async function pushed(payload: PushPayload | null): Promise<void> {
  if (payload === null) return show(unreadable())
  if (payload.type === 'withdraw') return withdraw(payload.tag)
  await show(noticeOf(payload, room()))
  await close(OVER)
}

async function withdraw(tag: string): Promise<void> {
  const left = afterWithdrawal(await self.registration.getNotifications(), tag)
  await close(tag)
  const said =
    left === null ? over() : { title: left.title, options: { ...optionsOf(left), silent: true } }
  await show(said)
  // Whoever looks has seen it happen.
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  if (windows.some(({ visibilityState }) => visibilityState === 'visible')) await close(OVER)
}

async function press(kind: ActionKind, notification: Notification): Promise<void> {
  await show(await act(kind, optionsOf(notification), room()))
}

function show({ title, options }: Notice): Promise<void> {
  return self.registration.showNotification(title, options)
}

async function close(tag: string): Promise<void> {
  for (const notification of await self.registration.getNotifications({ tag })) notification.close()
}

/** What it was shown with. */
function optionsOf(notification: Notification): NoticeOptions {
  const { body, tag, icon, badge, requireInteraction, data } = notification
  const { actions = [] } = notification as unknown as Pick<NoticeOptions, 'actions'>
  const known = data as NoticeOptions['data'] | null
  return {
    ...{ body, tag, icon, badge, requireInteraction },
    actions: actions.map(({ action, title }) => ({ action, title })),
    data: known ?? { path: '/', request_id: null, tokens: {} },
  }
}

/** How many buttons there is room for. */
function room(): number {
  const { maxActions } = Notification as unknown as { maxActions?: number }
  return maxActions ?? 2
}
