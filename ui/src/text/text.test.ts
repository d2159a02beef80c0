import { expect, test } from 'vitest'

import { makeOutcome } from '../testing/fixtures'
import { bytesText, tokensText } from './amounts'
import { diffLines } from './lines'
import { outcomeText } from './outcome'
import { shortPath } from './paths'
import {
  agoText,
  clockText,
  dayText,
  durationText,
  heldSecondsLeft,
  leftText,
  secondsLeft,
} from './time'
import { visible, type Strictness } from './visible'

test.each<[string, Strictness, string, string]>([
  ['plain text and its line breaks stay', 'exact', 'a\tb\nc', 'a\tb\nc'],
  ['right-to-left override', 'exact', 'rm \u202etxt', 'rm ⟨U+202E⟩txt'],
  ['zero width', 'exact', 'a\u200bb\ufeffc\u2060', 'a⟨U+200B⟩b⟨U+FEFF⟩c⟨U+2060⟩'],
  ['control characters and escapes', 'exact', '\u001b[2J\r\u0000', '⟨U+001B⟩[2J⟨U+000D⟩⟨U+0000⟩'],
  ['tag characters beyond the first plane', 'exact', 'a\u{e0041}', 'a⟨U+E0041⟩'],
  ['spaces that are not the space', 'exact', 'a\u00a0b\u3000c', 'a⟨U+00A0⟩b⟨U+3000⟩c'],
  ['letters that show nothing', 'exact', '\u3164\u115f', '⟨U+3164⟩⟨U+115F⟩'],
  ['half a surrogate pair', 'exact', '\ud800x', '⟨U+D800⟩x'],
  ['other writings and emoji stay', 'exact', 'שלום 日本 é 🎉', 'שלום 日本 é 🎉'],
  ['a joined emoji is one sign in prose', 'prose', '👩‍💻 ❤️', '👩‍💻 ❤️'],
  ['but its parts are shown in commands', 'exact', '👩‍💻', '👩⟨U+200D⟩💻'],
  ['a joiner between letters is shown in prose', 'prose', 'a\u200db', 'a⟨U+200D⟩b'],
  ['bidi marks are shown in prose', 'prose', 'a\u202eb\u2066', 'a⟨U+202E⟩b⟨U+2066⟩'],
  ['a no-break space is writing in prose', 'prose', '5\u00a0km', '5\u00a0km'],
])('%s (%s)', (_, strictness, text, expected) => {
  expect(visible(text, strictness)).toBe(expected)
})

test.each([
  ['/srv/api/src/login.ts', 48, '/srv/api/src/login.ts'],
  ['/home/somebody/projects/api/server/src/routes/login.ts', 32, '/home/…/src/routes/login.ts'],
  ['/a/b', 2, '/a/b'],
])('the path %s in %i characters', (path, longest, expected) => {
  expect(shortPath(path, longest)).toBe(expected)
})

const NOON = Date.parse('2026-01-02T12:00:00Z')

test.each([
  ['2026-01-02T12:05:00Z', 298, '4:58'],
  ['2026-01-02T12:00:02.900Z', 0, '0:00'],
  ['2026-01-02T11:59:00Z', 0, '0:00'],
  ['2026-01-02T14:00:02Z', 7200, '2:00:00'],
])('until %s a human has %i seconds', (deadline, seconds, text) => {
  expect(secondsLeft(deadline, NOON)).toBe(seconds)
  expect(clockText(seconds)).toBe(text)
})

test.each([
  ['2026-01-02T11:59:00Z', '0 s'],
  ['2026-01-02T12:00:45Z', '45 s'],
  ['2026-01-02T12:11:01Z', '12 min'],
  ['2026-01-02T13:00:00Z', '1 h'],
  ['2026-01-02T14:04:30Z', '2 h 5 min'],
])('until %s there is %s left', (until, text) => {
  expect(leftText(until, NOON)).toBe(text)
})

test('what is past says since when', () => {
  expect([agoText('2026-01-02T12:02:00Z', NOON), agoText('2026-01-02T11:57:00Z', NOON)]).toEqual([
    'now',
    '3 min ago',
  ])
})

test('a day is named as people name it', () => {
  const now = new Date(2026, 4, 6, 12).getTime()
  const day = (...date: [number, number, number]) => dayText(new Date(...date).toISOString(), now)
  expect([day(2026, 4, 6), day(2026, 4, 5)]).toEqual(['Today', 'Yesterday'])
  expect(day(2026, 4, 4)).toMatch(/Monday/)
  expect(day(2026, 4, 4)).not.toMatch(/2026/)
  expect(day(2025, 4, 4)).toMatch(/2025/)
})

test('a stopped clock shows the same margin', () => {
  expect([heldSecondsLeft(200), heldSecondsLeft(1)]).toEqual([198, 0])
})

test.each([
  [400, '0.4 s'],
  [48_211, '48 s'],
  [185_000, '3 min 5 s'],
  [7_530_000, '2 h 5 min'],
])('%i ms read as %s', (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text)
})

test.each([
  ['', 'a', '+a'],
  ['a\nb\nc', 'a\nc', ' a|-b| c'],
  ['a\nb', 'a\nx\nb', ' a|+x| b'],
  ['old', 'new', '-old|+new'],
  ['a\nb\nc\nd', 'b\nc\ne', '-a| b| c|-d|+e'],
  ['same\n', 'same\n', ' same| '],
])('from %j to %j', (before, after, expected) => {
  const signs = { same: ' ', removed: '-', added: '+' }
  const lines = diffLines(before, after).map(({ kind, text }) => signs[kind] + text)
  expect(lines.join('|')).toBe(expected)
})

test.each([
  [0, '0', '0 B'],
  [840, '840', '840 B'],
  [12_412, '12.4k', '12 KB'],
  [180_000, '180k', '180 KB'],
  [2_400_000, '2.4M', '2.4 MB'],
])('%i tokens or bytes read as %s and %s', (amount, tokens, bytes) => {
  expect([tokensText(amount), bytesText(amount)]).toEqual([tokens, bytes])
})

const client = { client_id: 'phone', label: 'Pixel 8' }
test.each([
  [makeOutcome(), 'Allowed by you'],
  [makeOutcome({ edited: true }), 'Allowed by you, edited'],
  [makeOutcome({ what: 'denied', client }), 'Denied by you on Pixel 8'],
  [makeOutcome({ what: 'answered', client }), 'Answered by you on Pixel 8'],
  [makeOutcome({ by: 'mode', client: null }), 'Allowed by the permission mode'],
  [
    makeOutcome({ by: 'mode', by_name: 'acceptEdits', client: null }),
    'Allowed by mode Accept edits',
  ],
  [
    makeOutcome({ what: 'denied', by: 'mode', client: null, message: 'Refused without asking.' }),
    'Denied by the permission mode',
  ],
  [makeOutcome({ what: 'denied', by: 'rule', client: null }), 'Denied by a rule'],
  [
    makeOutcome({ what: 'denied', by: 'rule', by_name: 'Bash(curl:*)', client: null }),
    'Denied by rule Bash(curl:*)',
  ],
  [
    makeOutcome({
      ...{ what: 'expired', by: 'timeout', client: null },
      message: 'Nobody answered within 5 minutes. This is not a refusal.',
    }),
    'No answer in 5 min',
  ],
  [makeOutcome({ what: 'expired', by: 'timeout', client: null }), 'No answer in time'],
  [makeOutcome({ what: 'withdrawn', by: 'agent', client: null }), 'Withdrawn by the agent'],
  [
    makeOutcome({ by: 'policy', by_name: 'auto_approve', client: null }),
    'Allowed automatically: nobody was asked',
  ],
  [makeOutcome({ what: 'orphaned', by: 'policy', client: null }), 'Not answered'],
  [makeOutcome({ delivery: 'too_late' }), 'Allowed by you (too late for the agent)'],
])('outcome %#: %s', (outcome, expected) => {
  expect(outcomeText(outcome, (id) => id !== 'phone')).toBe(expected)
})
