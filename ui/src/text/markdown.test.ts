import { expect, test, vi } from 'vitest'

import { GrowingMarkdown, renderMarkdown } from './markdown'

/** What a browser makes of the Markdown. */
function render(text: string): HTMLElement {
  const box = document.createElement('div')
  box.innerHTML = renderMarkdown(text).join('')
  return box
}

test.each([
  ['a script', '<script>alert(1)</script>'],
  ['an image with a handler', '<img src=x onerror=alert(1)>'],
  ['an iframe', '<iframe src="https://example.com"></iframe>'],
  ['a style', '<style>body{display:none}</style>'],
  ['a form', '<form action="https://example.com"><input></form>'],
])('%s is shown as text', (_, text) => {
  const box = render(text)
  expect(box.querySelector('script, img, iframe, style, form, input')).toBeNull()
  expect(box.textContent).toContain(text)
})

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
])('a link to %s is no link', (url) => {
  expect(render(`[click](${url})`).querySelector('a')).toBeNull()
  expect(render(`[click]: ${url}\n\n[click]`).querySelector('a')).toBeNull()
})

test('a link opens apart, tells nothing of this page and shows its host', () => {
  const box = render('[the bank](https://evil.example/x)')
  const link = box.querySelector('a')
  expect(link?.outerHTML).toBe(
    '<a href="https://evil.example/x" target="_blank" rel="noreferrer noopener">the bank</a>',
  )
  expect(box.textContent?.trim()).toBe('the bank (evil.example)')
})

test('a link that only looks like another host still shows its own', () => {
  expect(render('[https://bank.example](https://evil.example)').textContent).toContain(
    '(evil.example)',
  )
  expect(render('https://docs.example/a').textContent?.trim()).toBe('https://docs.example/a')
})

test.each([
  ['a user before the host', 'https://bank.example@evil.example/', '(evil.example)'],
  ['letters of another alphabet', 'https://b\u0430nk.example/', '(xn--bnk-6cd.example)'],
  [
    'more than one text',
    '[https://bank.example *to* https://evil.example](https://evil.example)',
    '(evil.example)',
  ],
  [
    'a host that only begins alike',
    '[https://evil.example.bank](https://evil.example)',
    '(evil.example)',
  ],
  ['a mail', '[your bank](mailto:thief@evil.example?subject=x)', '(thief@evil.example)'],
])('%s does not hide where a link leads', (_, text, expected) => {
  expect(render(text).textContent).toContain(expected)
})

test('an address of a mail is not said twice', () => {
  expect(render('<me@docs.example>').textContent?.trim()).toBe('me@docs.example')
})

test('a remote image is a link and is not loaded', () => {
  const box = render('![a chart](https://tracker.example/x.png)')
  expect(box.querySelector('img')).toBeNull()
  expect(box.querySelector('a')?.getAttribute('href')).toBe('https://tracker.example/x.png')
  expect(box.textContent?.trim()).toBe('Image: a chart (tracker.example)')
})

test('a code block is escaped, can be copied, and gets its colours when they are loaded', async () => {
  const text = '```js\nconst a = "<b>"\n```'
  const box = render(text)
  expect(box.querySelector('code')?.textContent).toBe('const a = "<b>"\n')
  expect(box.querySelector('button[data-copy]')?.textContent).toBe('Copy')
  await vi.waitFor(() => {
    expect(render(text).querySelector('.hljs-keyword')?.textContent).toBe('const')
  })
  expect(render(text).querySelector('code')?.textContent).toBe('const a = "<b>"\n')
})

test('a language cannot smuggle attributes', () => {
  const box = render('```"><img/src=x/onerror=alert(1)>\nx\n```')
  expect(box.querySelector('img')).toBeNull()
})

test('hidden characters are made visible before anything else', () => {
  expect(render('`a\u202eb`').textContent?.trim()).toBe('a⟨U+202E⟩b')
})

const LONG = [
  '# Title',
  'A paragraph\nof two lines with `code`',
  '- one\n- two\n\n  still two',
  '```js\nconst a = 1\n\nconst b = 2\n```',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  'Heading\n---',
  '> quoted\n> more',
  'The end.',
].join('\n\n')

test('a text that grows letter by letter reads as if it had come at once', () => {
  const growing = new GrowingMarkdown()
  for (let end = 1; end < LONG.length; end++) growing.update(LONG.slice(0, end))
  expect(growing.update(LONG)).toEqual(renderMarkdown(LONG))
  expect(growing.update('Something else')).toEqual(renderMarkdown('Something else'))
})

test('finished blocks stay the same while the last one grows', () => {
  const growing = new GrowingMarkdown()
  const before = growing.update('First.\n\nSecond')
  const after = growing.update('First.\n\nSecond and more')
  expect(after).toEqual([before[0], '<p>Second and more</p>'])
})
