import { expect, test } from 'vitest'

import type { PendingRequest } from '../../protocol.gen'
import { makeRequest } from '../../testing/fixtures'
import { reasonAgainst, swipeBar, type Reason } from './easyAllow'

test.each<[string, Partial<PendingRequest>, Reason | null, 'both' | 'right' | 'none']>([
  ['a plain command', {}, null, 'none'],
  ['one that was not read to its end', { request_id: 'unread' }, 'unread', 'right'],
  ['one that cannot be shown exactly', { input_faithful: false }, 'unfaithful', 'right'],
  ['what cannot be taken back', { destructive: true }, 'risky', 'both'],
  ['what opens on No', { default_to_no: true }, 'risky', 'both'],
  ['risky and not exact', { destructive: true, input_faithful: false }, 'risky', 'both'],
  ['what only a human answers', { requires_user_interaction: true }, 'answer', 'both'],
  ['a question', { request_type: 'ask_user_question' }, 'answer', 'both'],
  ['a plan', { request_type: 'plan_approval' }, 'answer', 'both'],
  ['what Sayso does not understand', { request_type: 'other' }, 'answer', 'both'],
])('%s', (_, part, reason, barred) => {
  const request = makeRequest({ request_id: 'read', ...part })
  const seen = new Set(['read'])
  expect(reasonAgainst(request, seen)).toBe(reason)
  const isBarred = (side: 'right' | 'left') => swipeBar(request, side, seen) !== null
  expect([isBarred('right'), isBarred('left')]).toEqual([barred !== 'none', barred === 'both'])
})
