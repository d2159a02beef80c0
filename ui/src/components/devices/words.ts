import type { Device, Scope } from '../../protocol.gen'
import { leftText } from '../../text/time'

export const SCOPES: readonly Scope[] = ['view', 'answer', 'approve', 'rules', 'admin']

/** What a device with this scope may do. */
export const SCOPE_WORDS: Record<Scope, { verb: string; label: string; meaning: string }> = {
  view: {
    verb: 'look',
    label: 'View',
    meaning: 'See sessions, requests, rules and the history.',
  },
  answer: {
    verb: 'answer and refuse',
    label: 'Answer',
    meaning: 'Answer questions, refuse tools, write to agents and stop them.',
  },
  approve: {
    verb: 'allow',
    label: 'Approve',
    meaning: 'Allow tools and plans, start sessions, change modes.',
  },
  rules: {
    verb: 'make rules',
    label: 'Rules',
    meaning: 'Have decisions remembered, trust folders, switch asking off.',
  },
  admin: {
    verb: 'manage devices',
    label: 'Devices',
    meaning: 'Pair and revoke devices, make tokens, set the password.',
  },
}

export interface Preset {
  name: 'full' | 'approve' | 'view'
  label: string
  meaning: string
  scopes: readonly Scope[]
}

export const PRESETS: readonly Preset[] = [
  {
    name: 'full',
    label: 'Full control',
    meaning: 'Everything, with rules and devices: as if you sat at this one.',
    scopes: SCOPES,
  },
  {
    name: 'approve',
    label: 'Approve',
    meaning: 'Answers, allows and refuses. No rules, no devices.',
    scopes: ['view', 'answer', 'approve'],
  },
  { name: 'view', label: 'View only', meaning: 'Looks. Decides nothing.', scopes: ['view'] },
]

export function presetOf(scopes: readonly Scope[]): Preset | null {
  const wanted = inOrder(scopes).join()
  return PRESETS.find((preset) => preset.scopes.join() === wanted) ?? null
}

/** In the order of their weight, each once. */
export function inOrder(scopes: Iterable<Scope>): Scope[] {
  const all = new Set(scopes)
  return SCOPES.filter((scope) => all.has(scope))
}

/** `Full control`, or `May look, allow`. */
export function scopesText(scopes: readonly Scope[]): string {
  return presetOf(scopes)?.label ?? verbsText(scopes)
}

export function verbsText(scopes: readonly Scope[]): string {
  const verbs = inOrder(scopes).map((scope) => SCOPE_WORDS[scope].verb)
  return verbs.length === 0 ? 'May do nothing' : `May ${verbs.join(', ')}`
}

/** Until when it is let in; days are enough. */
export function expiryText({ expires_at }: Device, now: number): string {
  if (expires_at === undefined) return 'does not expire'
  const left = Date.parse(expires_at) - now
  if (left <= 0) return 'expired'
  const days = Math.round(left / 86_400_000)
  return days >= 2 ? `expires in ${days} days` : `expires in ${leftText(expires_at, now)}`
}
