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

/** What was said here to one that knocked. */
export type Said = { kind: 'sending' | 'refused' } | { kind: 'admitted'; name: string }

const PATH = '/api/devices'

/** Everything that may come in, and everything that wants to. Told only to those who may change it. */
export const useDevices = defineStore('devices', () => {
  const clock = useClock()
  const me = useMe()
  const list = shallowRef<readonly Device[] | null>(null)
  const pairings = shallowRef<readonly Pairing[]>([])
  /** The pairing that has a dialog of its own on this page. */
  const shownHere = ref<string | null>(null)
  const said = shallowRef<ReadonlyMap<string, Said>>(new Map())

  const claims = computed(() =>
    pairings.value
      .filter(isClaimed)
      .filter(({ expires_at }) => Date.parse(expires_at) > clock.now)
      .filter(({ pairing_id }) => (said.value.get(pairing_id)?.kind ?? 'sending') === 'sending'),
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
    say(pairingId, 'confirm', answer, { kind: 'admitted', name: answer.name })

  const refuse = (pairingId: string) => say(pairingId, 'refuse', {}, { kind: 'refused' })

  /** It is gone from the screen when the server has taken the answer, and not before. */
  async function say(pairingId: string, way: string, body: unknown, taken: Said): Promise<void> {
    said.value = new Map(said.value).set(pairingId, { kind: 'sending' })
    try {
      await postJson(`${PATH}/pairings/${pairingId}/${way}`, body)
      said.value = new Map(said.value).set(pairingId, taken)
    } catch (error) {
      const rest = new Map(said.value)
      rest.delete(pairingId)
      said.value = rest
      throw error
    }
  }

  const makeToken = (token: NewToken) => postJson<MadeToken>(`${PATH}/tokens`, token)

  const change = (deviceId: string, now: ChangeDevice) => postJson(`${PATH}/${deviceId}`, now)

  const revoke = (deviceId: string) => deleteJson(`${PATH}/${deviceId}`)

  const signOut = () => postJson('/api/sign_out', {})

  return {
    ...{ list, pairings, claims, elsewhere, shownHere, said },
    ...{ replaceAll, get, pairing, makeLink, confirm, refuse },
    ...{ makeToken, change, revoke, signOut },
  }
})

function isClaimed(pairing: Pairing): pairing is Claimed {
  return pairing.claim !== undefined
}
