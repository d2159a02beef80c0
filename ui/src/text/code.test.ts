import { expect, test, vi } from 'vitest'

import { languageOf, readTokens, tokens } from './code'

test('highlighted HTML is read as stretches of text', () => {
  const html =
    'a &amp;&amp; <span class="hljs-string">&quot;<span class="hljs-subst">&lt;b&gt;</span>&#x27;</span>\n'
  expect(readTokens(html)).toEqual([
    { text: 'a && ', className: '' },
    { text: '"', className: 'hljs-string' },
    { text: '<b>', className: 'hljs-string hljs-subst' },
    { text: "'", className: 'hljs-string' },
    { text: '\n', className: '' },
  ])
})

test('an entity that the code itself holds is text', () => {
  expect(readTokens('&amp;lt;')).toEqual([{ text: '&lt;', className: '' }])
})

test('code is plain until its language has come, then every character is in a stretch', async () => {
  const code = 'if x; then echo "$HOME <&> \'"; fi # \u200b&amp;\r\n'
  expect(tokens(code, 'bash')).toEqual([{ text: code, className: '' }])
  await vi.waitFor(() => expect(tokens(code, 'bash').length).toBeGreaterThan(3))
  const found = tokens(code, 'bash')
  expect(found.map(({ text }) => text).join('')).toBe(code)
  expect(found[0]).toEqual({ text: 'if', className: 'hljs-keyword' })
})

test('a language that nobody knows leaves code plain', () => {
  expect(tokens('x', 'klingon')).toEqual([{ text: 'x', className: '' }])
})

test.each([
  ['/srv/a.b/login.TS', 'ts'],
  ['/srv/Dockerfile', 'dockerfile'],
  ['Makefile.am', 'makefile'],
  ['/srv/a.b/LICENSE', ''],
])('the language of %s', (path, expected) => {
  expect(languageOf(path)).toBe(expected)
})
