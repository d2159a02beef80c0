import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type { Scope } from '../protocol.gen'
import { answerCalls, makeClaimed, makeDevice, makePairing, PAIRING } from '../testing/devices'
import { makeMe, startStores } from '../testing/fixtures'
import { useClock } from './clock'
import { useDevices } from './devices'
import { useMe } from './me'
import { receive } from './receive'

beforeEach(() => vi.useFakeTimers({ now: Date.parse('2026-01-02T04:00:00Z') }))
afterEach(() => vi.useRealTimers())

const claimIds = () => useDevices().claims.map(({ pairing_id }) => pairing_id)

test('only what knocks is a claim, and only until its time is over', async () => {
  startStores()
  useClock().start()
  const pairings = [makePairing({ pairing_id: 'unused' }), makeClaimed()]
  receive({ type: 'devices', devices: [], pairings })
  expect(claimIds()).toEqual([PAIRING])
  await vi.advanceTimersByTimeAsync(121_000)
  expect(claimIds()).toEqual([])
})

test('a claim that has a dialog of its own is not shown twice', () => {
  startStores()
  const devices = useDevices()
  const pairings = [makeClaimed(), makeClaimed({ pairing_id: 'other' })]
  receive({ type: 'devices', devices: [], pairings })
  devices.shownHere = PAIRING
  expect(devices.elsewhere.map(({ pairing_id }) => pairing_id)).toEqual(['other'])
})

test('an answer that the server did not take leaves the claim where it is', async () => {
  startStores()
  receive({ type: 'devices', devices: [], pairings: [makeClaimed()] })
  answerCalls({})
  await expect(useDevices().refuse(PAIRING)).rejects.toThrow()
  expect(claimIds()).toEqual([PAIRING])
  answerCalls({ [`POST /api/devices/pairings/${PAIRING}/refuse`]: [[200, {}]] })
  await useDevices().refuse(PAIRING)
  expect(claimIds()).toEqual([])
})

test('what the list says of this device counts for it', () => {
  startStores()
  const own = makeDevice({ name: 'Laptop', scopes: ['view', 'admin'] })
  receive({ type: 'devices', devices: [own], pairings: [] })
  expect(useMe().me).toEqual(makeMe({ name: 'Laptop', scopes: ['view', 'admin'] }))
})

const LOOK = 'This device may look, not decide.'
test.each<[Scope[], (string | null)[]]>([
  [
    ['view', 'answer', 'approve', 'rules', 'admin'],
    [null, null, null, null],
  ],
  [
    ['view', 'answer'],
    [
      null,
      'This device may answer and refuse, not allow.',
      'This device may not have decisions remembered.',
      'This device may not manage devices.',
    ],
  ],
  [
    ['view'],
    [
      LOOK,
      LOOK,
      'This device may not have decisions remembered.',
      'This device may not manage devices.',
    ],
  ],
])('with %o the reasons are %o', (scopes, reasons) => {
  startStores({ me: makeMe({ scopes }) })
  const me = useMe()
  const asked: Scope[] = ['answer', 'approve', 'rules', 'admin']
  expect(asked.map((scope) => me.why(scope))).toEqual(reasons)
  expect(asked.map((scope) => me.may(scope))).toEqual(reasons.map((reason) => reason === null))
})
