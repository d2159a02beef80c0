import { expect, test } from 'vitest'

import { outdated, type Shell, wayOf } from './shell'

const ORIGIN = 'https://sayso.test'
const SHELL: Shell = {
  version: 'new',
  files: ['/index.html', '/favicon.svg', '/assets/index-1.js'],
  document: '',
}

const navigation = (path: string) => ask(path, { mode: 'navigate', destination: 'document' })

function ask(path: string, part: Partial<Request> = {}): Parameters<typeof wayOf>[0] {
  const url = new URL(path, ORIGIN).href
  return { method: 'GET', mode: 'cors', destination: 'script', url, ...part }
}

test.each([
  [navigation('/'), 'document'],
  [navigation('/sessions/1?request=2'), 'document'],
  [navigation('/settings/notifications'), 'document'],
  [navigation('/?token=secret'), 'untouched'],
  [navigation('/api/history/export?format=csv'), 'untouched'],
  [navigation('/compat/twicc/ws'), 'untouched'],
  [navigation('/healthz'), 'untouched'],
  [navigation('/missing.js'), 'untouched'],
  [ask('/api/previews/1', { mode: 'navigate', destination: 'iframe' }), 'untouched'],
  [ask('/assets/index-1.js'), 'kept'],
  [ask('/assets/index-1.js', { method: 'POST' }), 'untouched'],
  [ask('/assets/index-1.js?x'), 'untouched'],
  [ask('/assets/other-2.js'), 'untouched'],
  [ask('/favicon.svg'), 'fresh'],
  [ask('/api/me'), 'untouched'],
  [ask('https://elsewhere.test/favicon.svg'), 'untouched'],
])('%o is %s', (request, expected) => {
  expect(wayOf(request, ORIGIN, SHELL)).toBe(expected)
})

test('only what Sayso kept before is outdated', () => {
  expect(outdated(['sayso-shell-old', 'sayso-shell-new', 'other'], SHELL)).toEqual([
    'sayso-shell-old',
  ])
})
