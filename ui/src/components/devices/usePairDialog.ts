import { computed, onBeforeUnmount, ref, shallowRef, type ComputedRef, type Ref } from 'vue'

import { useClock } from '../../data/clock'
import { useDevices, type Claimed } from '../../data/devices'
import { errorText } from '../../data/errors'
import type { PairingLink, Scope } from '../../protocol.gen'

export type PairStep =
  | { kind: 'choosing' | 'showing' | 'refused' | 'elsewhere' }
  | { kind: 'claimed'; pairing: Claimed }
  | { kind: 'admitted'; name: string }

export interface PairDialogState {
  step: ComputedRef<PairStep>
  link: Ref<PairingLink | null>
  isMaking: Ref<boolean>
  problem: Ref<string | null>
  secondsLeft: ComputedRef<number>
  make: (scopes: Scope[]) => Promise<void>
}

/** The way of one link: made, scanned, answered here or elsewhere. */
export function usePairDialog(): PairDialogState {
  const devices = useDevices()
  const clock = useClock()
  const link = shallowRef<PairingLink | null>(null)
  const isMaking = ref(false)
  const problem = ref<string | null>(null)
  /** The last that was seen of it: who knocks is gone from the list once it is answered. */
  let knocked: Claimed | null = null

  const secondsLeft = computed(() => {
    const until = Date.parse(link.value?.pairing.expires_at ?? '')
    return Math.max(0, Math.ceil((until - clock.now) / 1000)) || 0
  })

  const step = computed((): PairStep => {
    if (link.value === null) return { kind: 'choosing' }
    const { pairing_id } = link.value.pairing
    const said = devices.said.get(pairing_id)
    if (said?.kind === 'admitted') return said
    if (said?.kind === 'refused') return { kind: 'refused' }
    knocked = devices.claims.find((claim) => claim.pairing_id === pairing_id) ?? knocked
    const isOpen = said !== undefined || devices.claims.some((one) => one === knocked)
    if (knocked?.pairing_id !== pairing_id) return { kind: 'showing' }
    return isOpen ? { kind: 'claimed', pairing: knocked } : { kind: 'elsewhere' }
  })

  async function make(scopes: Scope[]): Promise<void> {
    if (isMaking.value) return
    isMaking.value = true
    problem.value = null
    try {
      link.value = await devices.makeLink(scopes)
      devices.shownHere = link.value.pairing.pairing_id
    } catch (error) {
      problem.value = errorText(error)
    } finally {
      isMaking.value = false
    }
  }

  onBeforeUnmount(() => (devices.shownHere = null))
  return { step, link, isMaking, problem, secondsLeft, make }
}
