/** How this browser stands to push messages. */
export type PushState =
  | 'elsewhere'
  | 'insecure'
  | 'home_screen'
  | 'missing'
  | 'no_worker'
  | 'blocked'
  | 'off'
  | 'ended'
  | 'on'

/** What is known of the browser and the server. */
export interface PushFacts {
  /** The page came from the server, and not from an extension. */
  isOwnPage: boolean
  isSecure: boolean
  hasWorkers: boolean
  hasPush: boolean
  isApple: boolean
  isInstalled: boolean
  /** The worker is there and runs. */
  hasRegistration: boolean
  permission: NotificationPermission
  /** The browser is subscribed, with the server's own key. */
  isSubscribed: boolean
  /** The server knows a channel of this device. */
  hasChannel: boolean
}

export function pushState(facts: PushFacts): PushState {
  if (!facts.isOwnPage) return 'elsewhere'
  if (!facts.isSecure) return 'insecure'
  if (!facts.hasPush && facts.isApple && !facts.isInstalled) return 'home_screen'
  if (!facts.hasPush || !facts.hasWorkers) return 'missing'
  if (!facts.hasRegistration) return 'no_worker'
  if (facts.permission === 'denied') return 'blocked'
  if (facts.isSubscribed && facts.hasChannel) return 'on'
  return facts.hasChannel ? 'ended' : 'off'
}
