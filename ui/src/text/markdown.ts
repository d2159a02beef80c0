import createDOMPurify from 'dompurify'
import MarkdownIt from 'markdown-it'

import { highlight } from './code'
import { visible } from './visible'

const markdown = new MarkdownIt({ html: false, linkify: true, typographer: false })
// Bare words such as `main.rs` are file names here, not hosts.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false })
markdown.validateLink = (url) => /^(https?:|mailto:)/i.test(url.trim())

markdown.renderer.rules.link_open = (tokens, index, options, _environment, self) => {
  const token = tokens[index]
  token?.attrSet('target', '_blank')
  token?.attrSet('rel', 'noreferrer noopener')
  return self.renderToken(tokens, index, options)
}

markdown.renderer.rules.link_close = (tokens, index) => {
  const href = openingHref(tokens, index)
  const host = hostOf(href)
  const shown = tokens[index - 1]?.content ?? ''
  const needsHost = host !== '' && hostOf(shown) !== host
  return needsHost ? `</a><span class="link-host"> (${escapeHtml(host)})</span>` : '</a>'
}

/** A remote image would tell its server who reads what, so it is only a link. */
markdown.renderer.rules.image = (tokens, index) => {
  const token = tokens[index]
  const source = String(token?.attrGet('src') ?? '')
  const label = escapeHtml(token?.content || 'image')
  return `<a href="${escapeHtml(source)}" target="_blank" rel="noreferrer noopener">Image: ${label}</a><span class="link-host"> (${escapeHtml(hostOf(source))})</span>`
}

markdown.renderer.rules.fence = (tokens, index) => {
  const token = tokens[index]
  return codeBlock(token?.content ?? '', token?.info.trim().split(/\s+/)[0] ?? '')
}
markdown.renderer.rules.code_block = (tokens, index) => codeBlock(tokens[index]?.content ?? '', '')

const purifier = createDOMPurify(window)
const SANITISING = {
  ALLOWED_TAGS: (
    'a blockquote br button code del div em h1 h2 h3 h4 h5 h6 hr li ol p pre s span strong ' +
    'table tbody td th thead tr ul'
  ).split(' '),
  ALLOWED_ATTR: 'aria-label class data-copy href rel start tabindex target type'.split(' '),
  // The purifier holds every other attribute against the pattern for addresses.
  ADD_URI_SAFE_ATTR: 'aria-label data-copy rel start tabindex target type'.split(' '),
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
}

/** An agent's Markdown as HTML that is safe to show. */
export function renderMarkdown(text: string): string {
  return purifier.sanitize(markdown.render(visible(text, 'prose')), SANITISING)
}

function codeBlock(code: string, language: string): string {
  const body = highlight(code, language) ?? escapeHtml(code)
  const label = language === '' ? '' : `<span class="code-language">${escapeHtml(language)}</span>`
  return (
    `<div class="code-block"><div class="code-bar">${label}` +
    '<button type="button" class="code-copy" data-copy="">Copy</button></div>' +
    `<pre tabindex="0"><code>${body}</code></pre></div>`
  )
}

function openingHref(
  tokens: Parameters<typeof markdown.renderer.render>[0],
  close: number,
): string {
  for (let index = close; index >= 0; index--) {
    const token = tokens[index]
    if (token?.type === 'link_open') return String(token.attrGet('href') ?? '')
  }
  return ''
}

function hostOf(href: string): string {
  try {
    return new URL(href).host
  } catch {
    return ''
  }
}

function escapeHtml(text: string): string {
  return markdown.utils.escapeHtml(text)
}
