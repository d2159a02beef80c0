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
  /** Notifications with the same tag replace each other, also across tabs. */
  tag: string
}

/** Null when the browser does not show notifications from a page, as on most phones. */
export function notify(text: NotificationText, clicked: () => void): Notification | null {
  const { title, body, tag } = text
  try {
    const notification = new Notification(title, { body, tag, icon: '/icon-192.png' })
    notification.onclick = () => {
      window.focus()
      notification.close()
      clicked()
    }
    return notification
  } catch {
    return null
  }
}
