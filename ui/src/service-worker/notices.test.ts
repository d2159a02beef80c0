import { describe, expect, test } from 'vitest'

import type { PushNotice } from '../protocol.gen'
import { afterWithdrawal, noticeOf, ownPath, readPayload, undecided } from './notices'

const NOTICE: PushNotice = {
  tag: 'r1',
  kind: 'tool',
  title: 'Approval needed',
  body: 'Bash · shop',
  path: '/sessions/1?request=2',
  reminder: false,
  request_id: '2',
  actions: [
    { action: 'deny', token: 'no' },
    { action: 'allow', token: 'yes' },
  ],
}

test.each([
  ['{"type":"withdraw","tag":"r1"}', { type: 'withdraw', tag: 'r1' }],
  ['{"type":"show"}', null],
  ['{"type":"other","tag":"r1"}', null],
  ['null', null],
  ['"text"', null],
  ['', null],
])('reads %s', (text, expected) => {
  expect(readPayload(text)).toEqual(expected)
})

describe('a notification', () => {
  test('stays until it is answered, and carries what its buttons need', () => {
    expect(noticeOf(NOTICE, 2)).toEqual({
      title: 'Approval needed',
      options: {
        body: 'Bash · shop',
        tag: 'r1',
        icon: '/icon-192.png',
        badge: '/badge-96.png',
        data: { path: NOTICE.path, request_id: '2', tokens: { deny: 'no', allow: 'yes' } },
        actions: [
          { action: 'deny', title: 'Deny' },
          { action: 'allow', title: 'Allow once' },
        ],
        requireInteraction: true,
        renotify: false,
      },
    })
  })

  test('has a button to open it where there is room', () => {
    const titles = (notice: PushNotice, room: number) =>
      noticeOf(notice, room).options.actions?.map(({ title }) => title)
    expect(titles(NOTICE, 3)).toEqual(['Deny', 'Allow once', 'Open'])
    expect(titles({ ...NOTICE, actions: [] }, 2)).toEqual(['Open'])
  })

  test('that nobody needs to answer goes by itself, and a reminder is heard again', () => {
    const { request_id: _, ...finished } = NOTICE
    expect(noticeOf(finished, 2).options.requireInteraction).toBe(false)
    expect(noticeOf({ ...NOTICE, reminder: true }, 2).options.renotify).toBe(true)
  })

  test('keeps its buttons only as long as they are good', () => {
    const { options } = noticeOf(NOTICE, 2)
    const actions = (again: boolean) =>
      undecided(options, 'why', again, 2).options.actions?.map(({ action }) => action)
    expect(actions(true)).toEqual(['deny', 'allow'])
    expect(actions(false)).toEqual(['open'])
  })
})

test.each([
  ['/sessions/1?request=2', '/sessions/1?request=2'],
  ['//evil.test', '/'],
  ['/\\evil.test', '/'],
  ['https://evil.test', '/'],
  ['', '/'],
])('a notification that leads to %s opens %s', (path, expected) => {
  expect(ownPath(path)).toBe(expected)
})

test('what is left after a withdrawal is something else', () => {
  const one = { title: 'One', tag: 'r1' }
  const other = { title: 'Other', tag: 'r2' }
  expect(afterWithdrawal([one, other], 'r1')).toBe(other)
  expect(afterWithdrawal([one], 'r1')).toBeNull()
  expect(afterWithdrawal([], 'r1')).toBeNull()
})
