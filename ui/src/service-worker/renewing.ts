import type { Notifications, SubscribePush } from '../protocol.gen'

/** The browser has replaced the subscription, or ended it: the server is told where this device is now. */
export async function renew(push: PushManager): Promise<void> {
  const listed = await fetch('/api/notifications')
  if (!listed.ok) return
  const { public_key } = (await listed.json()) as Notifications
  const known = await push.getSubscription()
  const subscription =
    known ?? (await push.subscribe({ userVisibleOnly: true, applicationServerKey: public_key }))
  await fetch('/api/notifications/push', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      subscription: subscription.toJSON() as SubscribePush['subscription'],
    } satisfies SubscribePush),
  })
}
