import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'

import { deleteJson, postJson } from '../connection/rest'
import type {
  ChangeDevice,
  ConfirmPairing,
  Device,
  Devices,
  MadeToken,
  NewPairing,
  NewToken,
  Pairing,
  PairingLink,
  Scope,
} from '../protocol.gen'
import { useClock } from './clock'
import { useMe } from './me'

/** A device that has used a link and waits to be let in. */
export type Claimed = Pairing & Required<Pick<Pairing, 'claim'>>

const PATH = '/api/devices'

/** Everything that may come in, and everything that wants to. Told only to those who may change it. */
export const useDevices = defineStore('devices', () => {
  const clock = useClock()
  const me = useMe()
  const list = shallowRef<readonly Device[] | null>(null)
  const pairings = shallowRef<readonly Pairing[]>([])
  /** The pairing that has a dialog of its own on this page. */
  const shownHere = ref<string | null>(null)
  /** Answered here, and not yet gone from the server's list. */
  const answered = shallowRef<ReadonlySet<string>>(new Set())

  const claims = computed(() =>
    pairings.value
      .filter(isClaimed)
      .filter(({ expires_at }) => Date.parse(expires_at) > clock.now)
      .filter(({ pairing_id }) => !answered.value.has(pairing_id)),
  )
  const elsewhere = computed(() =>
    claims.value.filter(({ pairing_id }) => pairing_id !== shownHere.value),
  )

  function replaceAll(now: Devices): void {
    list.value = now.devices
    pairings.value = now.pairings
    const own = now.devices.find(({ device_id }) => device_id === me.me?.device_id)
    if (own !== undefined) me.change({ name: own.name, scopes: own.scopes })
  }

  function get(deviceId: string): Device | null {
    return list.value?.find(({ device_id }) => device_id === deviceId) ?? null
  }

  function pairing(pairingId: string): Pairing | null {
    return pairings.value.find(({ pairing_id }) => pairing_id === pairingId) ?? null
  }

  const makeLink = (scopes: Scope[]) =>
    postJson<PairingLink>(`${PATH}/pairings`, { scopes } satisfies NewPairing)

  const confirm = (pairingId: string, answer: ConfirmPairing) =>
    answering(pairingId, () => postJson(`${PATH}/pairings/${pairingId}/confirm`, answer))

  const refuse = (pairingId: string) =>
    answering(pairingId, () => postJson(`${PATH}/pairings/${pairingId}/refuse`, {}))

  /** It is gone from the screen when the server has taken the answer, and not before. */
  async function answering(pairingId: string, answer: () => Promise<unknown>): Promise<void> {
    await answer()
    answered.value = new Set(answered.value).add(pairingId)
  }

  const makeToken = (token: NewToken) => postJson<MadeToken>(`${PATH}/tokens`, token)

  const change = (deviceId: string, now: ChangeDevice) => postJson(`${PATH}/${deviceId}`, now)

  const revoke = (deviceId: string) => deleteJson(`${PATH}/${deviceId}`)

  const signOut = () => postJson('/api/sign_out', {})

  return {
    ...{ list, pairings, claims, elsewhere, shownHere, answered },
    ...{ replaceAll, get, pairing, makeLink, confirm, refuse },
    ...{ makeToken, change, revoke, signOut },
  }
})

function isClaimed(pairing: Pairing): pairing is Claimed {
  return pairing.claim !== undefined
}
