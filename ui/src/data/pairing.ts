import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'

import { RefusedError } from '../connection/errors'
import { showSecret } from '../connection/pairing'
import type { PairLink } from '../connection/pairLink'
import type { Paired } from '../protocol.gen'
import { useClock } from './clock'

/** How far this browser is on its way in. */
export type WayIn =
  | { kind: 'asking' }
  | { kind: 'waiting'; code: string; expiresAt: string }
  | { kind: 'paused'; until: number }
  | { kind: 'refused' | 'over' | 'unknown' | 'unreachable' }

const ASK_EVERY = 1000

/** Lets this browser in with a link. The secret is kept here, and nowhere that outlives the page. */
export const usePairing = defineStore('pairing', () => {
  const clock = useClock()
  /** Null while no link is being used. */
  const way = shallowRef<WayIn | null>(null)
  const fingerprint = ref<string | null>(null)
  let attempt = 0

  /** How it ended; null when another link was opened meanwhile. */
  async function start(link: PairLink): Promise<'paired' | 'not_paired' | null> {
    const mine = ++attempt
    way.value = { kind: 'asking' }
    fingerprint.value = link.fingerprint
    for (;;) {
      const now = await ask(link.secret)
      if (mine !== attempt) return null
      if (now === 'paired') return now
      way.value = now
      const pause = pauseAfter(now)
      if (pause === null) return 'not_paired'
      await new Promise((resolve) => setTimeout(resolve, pause))
      if (mine !== attempt) return null
    }
  }

  /** In, by this link or by an earlier one. */
  function leave(): void {
    attempt++
    way.value = null
  }

  async function ask(secret: string): Promise<WayIn | 'paired'> {
    try {
      const { paired, serverTime } = await showSecret(secret)
      if (serverTime !== null) clock.synchronise(serverTime)
      return read(paired)
    } catch (error) {
      return readFailure(error, way.value, clock.now)
    }
  }

  function pauseAfter(now: WayIn): number | null {
    if (now.kind === 'waiting') return ASK_EVERY
    return now.kind === 'paused' ? Math.max(ASK_EVERY, now.until - clock.now) : null
  }

  return { way, fingerprint, start, leave }
})

function read(paired: Paired): WayIn | 'paired' {
  switch (paired.status) {
    case 'paired':
      return 'paired'
    case 'waiting':
      return { kind: 'waiting', code: paired.code, expiresAt: paired.expires_at }
    case 'refused':
      return { kind: 'refused' }
  }
}

function readFailure(error: unknown, before: WayIn | null, now: number): WayIn {
  if (!(error instanceof RefusedError)) {
    if (before?.kind !== 'waiting') return { kind: 'unreachable' }
    // A phone that loses its network for a moment has not lost its place.
    return Date.parse(before.expiresAt) > now ? before : { kind: 'over' }
  }
  if (error.code === 'pairing_over') return { kind: 'over' }
  if (error.code === 'too_many_attempts') {
    return { kind: 'paused', until: now + (error.retryAfterSeconds ?? 1) * 1000 }
  }
  return { kind: 'unknown' }
}
