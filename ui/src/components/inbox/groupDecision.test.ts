import { expect, test } from 'vitest'

import { makeRequest } from '../../testing/fixtures'
import { groupDecision } from './groupDecision'

const plain = makeRequest({ request_id: 'plain' })
const unread = makeRequest({ request_id: 'unread' })
const others = [
  makeRequest({ request_id: 'question', request_type: 'ask_user_question' }),
  makeRequest({ request_id: 'plan', request_type: 'plan_approval' }),
  makeRequest({ request_id: 'destructive', destructive: true }),
  makeRequest({ request_id: 'careful', default_to_no: true }),
  makeRequest({ request_id: 'unfaithful', input_faithful: false }),
]
const seen = new Set([plain, ...others].map(({ request_id }) => request_id))

test('all can be denied; only what was read, is plain and harmless can be allowed', () => {
  const selected = [plain, unread, ...others]
  expect(groupDecision(selected, seen)).toEqual({
    deny: selected,
    allow: [plain],
    leftOut: ['1 not read yet', '2 need their own answers', '2 risky', '1 not shown exactly'],
  })
})

test('nothing is left out when all of it can be allowed', () => {
  expect(groupDecision([plain], seen)).toEqual({ deny: [plain], allow: [plain], leftOut: [] })
})
