import { expect, test } from 'vitest'

import { renderMarkdown } from './markdown'

/** What a browser makes of the Markdown. */
function render(text: string): HTMLElement {
  const box = document.createElement('div')
  box.innerHTML = renderMarkdown(text)
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

test('a remote image is a link and is not loaded', () => {
  const box = render('![a chart](https://tracker.example/x.png)')
  expect(box.querySelector('img')).toBeNull()
  expect(box.querySelector('a')?.getAttribute('href')).toBe('https://tracker.example/x.png')
  expect(box.textContent?.trim()).toBe('Image: a chart (tracker.example)')
})

test('a code block is coloured, escaped and can be copied', () => {
  const box = render('```js\nconst a = "<b>"\n```')
  expect(box.querySelector('code')?.textContent).toBe('const a = "<b>"\n')
  expect(box.querySelector('.hljs-keyword')?.textContent).toBe('const')
  expect(box.querySelector('button[data-copy]')?.textContent).toBe('Copy')
})

test('a language cannot smuggle attributes', () => {
  const box = render('```"><img/src=x/onerror=alert(1)>\nx\n```')
  expect(box.querySelector('img')).toBeNull()
})

test('hidden characters are made visible before anything else', () => {
  expect(render('`a\u202eb`').textContent?.trim()).toBe('a⟨U+202E⟩b')
})
