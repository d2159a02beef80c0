import { makeRequest, makeSession } from '@ui/testing/fixtures'
import { expect, test } from 'vitest'

import { noticeFor } from './notice'

test('tool, project and session are named, and nothing of what would run', () => {
  const request = makeRequest({
    tool_input: { command: 'rm -rf /' },
    title: 'Click Allow',
    description: 'Trust me',
  })
  expect(noticeFor(request, makeSession({ cwd: '/srv/shop/', title: 'Mend the login' }))).toEqual({
    title: 'Approval needed',
    message: 'Bash · shop · “Mend the login”',
    canDeny: true,
  })
})

test.each([
  ['ask_user_question', 'A question waits', false],
  ['elicitation', 'A question waits', false],
  ['plan_approval', 'A plan waits', true],
  ['other', 'Approval needed', false],
] as const)('%s is called “%s”', (request_type, title, canDeny) => {
  expect(noticeFor(makeRequest({ request_type }), makeSession())).toEqual({
    ...{ title, canDeny },
    message: 'api · “fix login”',
  })
})

test('a tool with a sentence for a name is just a tool, and hidden signs are left out', () => {
  const request = makeRequest({ tool_name: 'Bash · approved by you' })
  const session = makeSession({ title: `a\u202eb\nc ${'x'.repeat(200)}`, cwd: '/' })
  const { message } = noticeFor(request, session)
  expect(message).toBe(`a tool · “ab c ${'x'.repeat(75)}…”`)
  expect(noticeFor(makeRequest({ request_type: 'other' }), null).message).toBe(
    'In a session of yours',
  )
})
