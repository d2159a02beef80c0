import { expect, test } from 'vitest'

import type { Scope } from '../../protocol.gen'
import { makeDevice } from '../../testing/devices'
import { arrangeDevices } from './arrangeDevices'
import { qrPath } from './QrPicture.vue'
import { expiryText, scopesText, verbsText } from './words'

const NOW = Date.parse('2026-01-02T04:00:00Z')

test.each<[Scope[], string, string]>([
  [
    ['admin', 'rules', 'approve', 'answer', 'view'],
    'Full control',
    'May look, answer and refuse, allow, make rules, manage devices',
  ],
  [['view', 'answer', 'approve'], 'Approve', 'May look, answer and refuse, allow'],
  [['view'], 'View only', 'May look'],
  [['rules', 'view'], 'May look, make rules', 'May look, make rules'],
  [[], 'May do nothing', 'May do nothing'],
])('%o reads as %s', (scopes, text, verbs) => {
  expect([scopesText(scopes), verbsText(scopes)]).toEqual([text, verbs])
})

test.each([
  [undefined, 'does not expire'],
  ['2026-02-01T04:00:00Z', 'expires in 30 days'],
  ['2026-01-02T05:00:00Z', 'expires in 1 h'],
  ['2026-01-02T03:00:00Z', 'expired'],
])('an end at %s reads as %s', (expires_at, text) => {
  const device = { ...makeDevice(), ...(expires_at === undefined ? {} : { expires_at }) }
  expect(expiryText(device, NOW)).toBe(text)
})

test('this device stands first, then those that are there, then the last that were', () => {
  const gone = { connections: 0 }
  const { browsers, tokens } = arrangeDevices(
    [
      makeDevice({ device_id: 'old', ...gone, last_seen_at: '2026-01-01T00:00:00Z' }),
      makeDevice({ device_id: 'script', ...gone, kind: 'token' }),
      makeDevice({ device_id: 'recent', ...gone }),
      makeDevice({ device_id: 'here', connections: 2 }),
      makeDevice({ device_id: 'own', ...gone, last_seen_at: '2025-01-01T00:00:00Z' }),
    ],
    'own',
  )
  const ids = (list: typeof browsers) => list.map(({ device_id }) => device_id)
  expect([ids(browsers), ids(tokens)]).toEqual([['own', 'here', 'recent', 'old'], ['script']])
})

test('a QR code is drawn run by run, with room around it', () => {
  expect(qrPath({ size: 3, modules: '110000101' })).toBe('M4 4h2v1h-2zM4 6h1v1h-1zM6 6h1v1h-1z')
})
