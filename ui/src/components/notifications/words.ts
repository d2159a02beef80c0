import type { Channel, ChannelKind, ChannelSettings, NotificationKind } from '../../protocol.gen'
import type { PushState } from '../../data/pushState'

export const KINDS: { kind: NotificationKind; label: string; hint: string }[] = [
  { kind: 'tool', label: 'Approvals', hint: 'An agent wants to use a tool.' },
  { kind: 'question', label: 'Questions', hint: 'An agent or a tool server asks something.' },
  { kind: 'plan', label: 'Plans', hint: 'An agent shows its plan before it begins.' },
  { kind: 'turn_finished', label: 'Finished turns', hint: 'An agent is done and waits for you.' },
  {
    kind: 'error',
    label: 'Trouble',
    hint: 'An agent ended or hangs, or something ran unasked.',
  },
]

export const CHANNEL_KINDS: Record<ChannelKind, string> = {
  web_push: 'Web Push',
  ntfy: 'ntfy',
  webhook: 'Webhook',
}

/** What is the matter with this browser, and what to do about it. */
export const PUSH_WORDS: Record<PushState, string> = {
  elsewhere:
    'The extension tells you by itself while its panel is closed, so it needs no push messages.',
  insecure:
    'Browsers take push messages only at https addresses and on localhost. Open Sayso there, or give its server a certificate.',
  home_screen:
    'On iPhones and iPads only apps on the home screen get them. Tap Share, then Add to Home Screen, and open Sayso from there.',
  missing:
    'This browser has no push messages. Use another one here, or ntfy on this device. Private windows often have none either.',
  no_worker:
    'The browser did not take the service worker that push messages need. This happens with a certificate that it does not trust: install that, then load this page again.',
  blocked:
    'Blocked by the browser. To undo that, open the site settings beside the address, allow notifications, and come back here.',
  off: 'Off. Turning it on asks the browser for permission.',
  ended:
    'The browser has ended its subscription, so nothing arrives here. Turn it on again to mend that; your settings are kept.',
  on: 'On. Also with all tabs closed, and never while you look at Sayso here.',
}

/** `45 s`, `2 min`, `1 h 30 min`. */
export function spanText(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'min'],
    [seconds % 60, 's'],
  ] as const
  const said = parts.filter(([amount]) => amount > 0)
  return said.map(([amount, unit]) => `${amount} ${unit}`).join(' ') || '0 s'
}

/** What a channel is told and when, in one line. */
export function summary(settings: ChannelSettings): string {
  if (!settings.enabled) return 'Switched off'
  const { after_seconds, quiet_hours } = settings
  const kinds = KINDS.filter(({ kind }) => settings.kinds.includes(kind))
  const parts = [
    kinds.length === KINDS.length
      ? 'Everything'
      : kinds.map(({ label }) => label).join(', ') || 'Told nothing',
    after_seconds > 0 ? `after ${spanText(after_seconds)}` : null,
    settings.only_when_away ? 'when nobody looks' : null,
    quiet_hours === null ? null : `quiet ${quiet_hours.from}–${quiet_hours.until}`,
    settings.allow_button ? 'can allow' : null,
  ]
  return parts.filter((part) => part !== null).join(' · ')
}

/** Where it goes, for people. */
export function placeText({ kind, host }: Pick<Channel, 'kind' | 'host'>): string {
  return `${CHANNEL_KINDS[kind]} · ${host}`
}
