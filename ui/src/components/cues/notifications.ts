import { activeRegistration } from '../../connection/serviceWorker'
import { ICONS, type NoticeData } from '../../service-worker/notices'

/** Where the browser stands on notifications of this page. */
export type NotificationState = 'missing' | 'insecure' | 'not_asked' | 'allowed' | 'blocked'

const STATES: Record<NotificationPermission, NotificationState> = {
  default: 'not_asked',
  granted: 'allowed',
  denied: 'blocked',
}

export function notificationState(): NotificationState {
  if (!window.isSecureContext) return 'insecure'
  return 'Notification' in window ? STATES[Notification.permission] : 'missing'
}

/** Only ever called by somebody's click: an unasked question is refused for good. */
export async function askForNotifications(): Promise<NotificationState> {
  if (notificationState() === 'not_asked') await Notification.requestPermission()
  return notificationState()
}

export interface NotificationText {
  title: string
  body: string
  /** Of those with the same tag only the last is shown: across tabs, and with what the server pushes. */
  tag: string
  /** The page that it leads to. */
  path: string
}

/** Those that a page shows by itself, where there is no worker. */
const ownShown = new Map<string, Notification>()

/** False when the browser does not show it, as most phones do not without a worker. */
export async function notify(text: NotificationText, clicked: () => void): Promise<boolean> {
  const registration = await activeRegistration()
  return registration === null ? notifyAlone(text, clicked) : notifyThrough(registration, text)
}

/** The worker hears the click, also when this tab is gone by then. */
async function notifyThrough(
  registration: ServiceWorkerRegistration,
  { title, body, tag, path }: NotificationText,
): Promise<boolean> {
  // One that was pushed has buttons; one that another tab showed says the same.
  if ((await registration.getNotifications({ tag })).length > 0) return true
  const data: NoticeData = { path, request_id: null, tokens: {} }
  try {
    await registration.showNotification(title, { body, tag, data, ...ICONS })
    return true
  } catch {
    return false
  }
}

function notifyAlone({ title, body, tag }: NotificationText, clicked: () => void): boolean {
  try {
    const notification = new Notification(title, { body, tag, ...ICONS })
    notification.onclick = () => {
      window.focus()
      notification.close()
      clicked()
    }
    ownShown.set(tag, notification)
    return true
  } catch {
    return false
  }
}

/** Closes whatever is shown, by this tab, by another or by the worker, and is to be closed. */
export async function closeNotifications(isOver: (tag: string) => boolean): Promise<void> {
  const registration = await activeRegistration()
  const shown = [...((await registration?.getNotifications()) ?? []), ...ownShown.values()]
  for (const [tag] of ownShown) if (isOver(tag)) ownShown.delete(tag)
  for (const notification of shown) if (isOver(notification.tag)) notification.close()
}
