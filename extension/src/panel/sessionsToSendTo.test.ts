import { makeSession } from '@ui/testing/fixtures'
import { expect, test } from 'vitest'

import { sessionsToSendTo } from './sessionsToSendTo'

const at = (minute: number): string => `2026-01-02T03:0${minute}:00Z`
const sessions = [
  makeSession({ session_id: 'old', state: 'user_turn', state_changed_at: at(1) }),
  makeSession({ session_id: 'new', state: 'assistant_turn', state_changed_at: at(2) }),
  makeSession({ session_id: 'ended', state: 'dead', state_changed_at: at(5) }),
  makeSession({ session_id: 'gone', state: 'dead', can_resume: false }),
  makeSession({ session_id: 'archived', archived: true }),
]
const offered = (openId: string): string[] =>
  sessionsToSendTo(sessions, openId).map(({ session_id }) => session_id)

test('the open session comes first, then those that run, the last active before the others', () => {
  expect(offered('')).toEqual(['new', 'old', 'ended'])
  expect(offered('old')).toEqual(['old', 'new', 'ended'])
  expect(offered('ended')).toEqual(['ended', 'new', 'old'])
})
