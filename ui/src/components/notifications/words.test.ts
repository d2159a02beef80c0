import { expect, test } from 'vitest'

import type { ChannelSettings } from '../../protocol.gen'
import { afterSpans, remindSpans } from './spans'
import { spanText, summary } from './words'

const SETTINGS: ChannelSettings = {
  enabled: true,
  kinds: ['tool', 'question', 'plan', 'error'],
  detail: false,
  deny_button: true,
  allow_button: false,
  after_seconds: 0,
  remind_seconds: 0,
  only_when_away: false,
  quiet_hours: null,
}

test.each<[Partial<ChannelSettings>, string]>([
  [{}, 'Approvals, Questions, Plans, Trouble'],
  [{ enabled: false, after_seconds: 60 }, 'Switched off'],
  [{ kinds: [] }, 'Told nothing'],
  [{ kinds: ['error', 'tool', 'plan', 'question', 'turn_finished'] }, 'Everything'],
  [
    {
      kinds: ['tool'],
      after_seconds: 5400,
      only_when_away: true,
      allow_button: true,
      quiet_hours: { from: '22:00', until: '07:00', time_zone: 'UTC' },
    },
    'Approvals · after 1 h 30 min · when nobody looks · quiet 22:00–07:00 · can allow',
  ],
])('%o reads as %s', (part, expected) => {
  expect(summary({ ...SETTINGS, ...part })).toBe(expected)
})

test('spans are named, and what was set by other means can be kept', () => {
  expect([0, 45, 60, 3600, 3661].map(spanText)).toEqual([
    '0 s',
    '45 s',
    '1 min',
    '1 h',
    '1 h 1 min 1 s',
  ])
  expect(afterSpans(45).map(({ seconds }) => seconds)).toContain(45)
  expect(remindSpans(0)[0]).toEqual({ seconds: 0, label: 'Never' })
})
