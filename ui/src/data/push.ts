import { defineStore } from 'pinia'
import { computed, ref } from 'vue'

import { isOwnPage } from '../connection/reach'
import { activeRegistration, workers } from '../connection/serviceWorker'
import type { PushSubscription as Subscription } from '../protocol.gen'
import { useChannels } from './channels'
import { pushState, type PushFacts } from './pushState'

/** Where this browser was when the server was told last, as a fingerprint of the address. */
const TOLD = 'sayso.push'

/** This browser's own subscription to push messages. */
export const usePush = defineStore('push', () => {
  const channels = useChannels()
  const facts = ref<Omit<PushFacts, 'hasChannel'> | null>(null)
  /** Null until it was looked at. */
  const state = computed(() =>
    facts.value === null ? null : pushState({ ...facts.value, hasChannel: channels.own !== null }),
  )

  async function check(): Promise<void> {
    const registration = await activeRegistration()
    const subscription = (await registration?.pushManager?.getSubscription()) ?? null
    facts.value = {
      isOwnPage: isOwnPage(),
      isSecure: window.isSecureContext,
      hasWorkers: workers() !== null,
      hasPush: 'PushManager' in window && 'Notification' in window,
      isApple: /iPhone|iPad|iPod/.test(navigator.userAgent),
      isInstalled: window.matchMedia?.('(display-mode: standalone)').matches ?? false,
      hasRegistration: registration !== null,
      permission: 'Notification' in window ? Notification.permission : 'default',
      isSubscribed: subscription !== null && isFor(subscription, channels.publicKey),
    }
  }

  /** Only ever called by somebody's click: an unasked question is refused for good. */
  async function turnOn(): Promise<void> {
    const permission = await Notification.requestPermission()
    const registration = await activeRegistration()
    if (permission !== 'granted' || registration === null) return check()
    if (channels.publicKey === null) await channels.load()
    const push = registration.pushManager
    const before = await push.getSubscription()
    if (before !== null && !isFor(before, channels.publicKey)) await before.unsubscribe()
    await tell(
      await push.subscribe({
        userVisibleOnly: true,
        applicationServerKey: channels.publicKey ?? '',
      }),
    )
    await check()
  }

  async function turnOff(): Promise<void> {
    // The server first: should it fail, the switch still shows the truth.
    if (channels.own !== null) await channels.remove(channels.own)
    const registration = await activeRegistration()
    await (await registration?.pushManager.getSubscription())?.unsubscribe()
    localStorage.removeItem(TOLD)
    await check()
  }

  /** Browsers move subscriptions now and then; what the worker could not say is said here. */
  async function repair(): Promise<void> {
    const told = localStorage.getItem(TOLD)
    if (told === null) return
    const registration = await activeRegistration()
    const subscription = (await registration?.pushManager.getSubscription()) ?? null
    if (subscription === null || (await fingerprint(subscription)) === told) return
    await channels.load()
    if (channels.own !== null && isFor(subscription, channels.publicKey)) await tell(subscription)
  }

  async function tell(subscription: PushSubscription): Promise<void> {
    await channels.subscribe(subscription.toJSON() as Subscription)
    localStorage.setItem(TOLD, await fingerprint(subscription))
  }

  return { state, check, turnOn, turnOff, repair }
})

/** A browser takes messages only of the key that it subscribed with. */
function isFor({ options }: PushSubscription, key: string | null): boolean {
  const own = options?.applicationServerKey ?? null
  return own === null || key === null || base64Url(own) === key
}

async function fingerprint({ endpoint }: PushSubscription): Promise<string> {
  return base64Url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(endpoint)))
}

function base64Url(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)))
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
