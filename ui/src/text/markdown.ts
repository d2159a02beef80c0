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
  const isOneText = tokens[index - 2]?.type === 'link_open'
  const shown = isOneText ? (tokens[index - 1]?.content ?? '') : ''
  const target = targetOf(href)
  const needsTarget = target !== '' && !showsTarget(shown, href, target)
  return needsTarget ? `</a><span class="link-host"> (${escapeHtml(target)})</span>` : '</a>'
}

/** A remote image would tell its server who reads what, so it is only a link. */
markdown.renderer.rules.image = (tokens, index) => {
  const token = tokens[index]
  const source = String(token?.attrGet('src') ?? '')
  const label = escapeHtml(token?.content || 'image')
  return `<a href="${escapeHtml(source)}" target="_blank" rel="noreferrer noopener">Image: ${label}</a><span class="link-host"> (${escapeHtml(targetOf(source))})</span>`
}

/** The parser aligns with a style attribute, which the content policy refuses even unseen. */
for (const rule of ['th_open', 'td_open']) {
  markdown.renderer.rules[rule] = (tokens, index, options, _environment, self) => {
    const token = tokens[index]
    const align = /text-align:(\w+)/.exec(String(token?.attrGet('style') ?? ''))?.[1]
    if (token !== undefined)
      token.attrs = align === undefined ? null : [['class', `align-${align}`]]
    return self.renderToken(tokens, index, options)
  }
}

markdown.renderer.rules.fence = (tokens, index, _options, context: Context) => {
  const token = tokens[index]
  return codeBlock(token?.content ?? '', token?.info.trim().split(/\s+/)[0] ?? '', context)
}
markdown.renderer.rules.code_block = (tokens, index, _options, context: Context) =>
  codeBlock(tokens[index]?.content ?? '', '', context)

const purifier = createDOMPurify(window)
const SANITISING = {
  ALLOWED_TAGS: (
    'a blockquote br button code del div em h1 h2 h3 h4 h5 h6 hr li ol p pre s span strong ' +
    'table tbody td th thead tr ul'
  ).split(' '),
  ALLOWED_ATTR: 'aria-label class data-copy data-testid href rel start tabindex target type'.split(
    ' ',
  ),
  // The purifier holds every other attribute against the pattern for addresses.
  ADD_URI_SAFE_ATTR: 'aria-label data-copy data-testid rel start tabindex target type'.split(' '),
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
}

/** What is known while a text is rendered; the parser keeps link references in it too. */
interface Context {
  /** Some code has no colours yet, because they are being loaded. */
  isPending?: boolean
  /** The code still grows, and is too long to be coloured with every piece. */
  isPlain?: boolean
}

interface Block {
  /** The line on which it begins, counted in what was parsed. */
  line: number
  html: string
}

/** Enough for all that is near the reader, so that scrolling back parses nothing again. */
const KEPT = 1000
const kept = new Map<string, readonly string[]>()

/** An agent's Markdown as safe HTML, one piece for each block: a paragraph, a list, some code. */
export function renderMarkdown(text: string): readonly string[] {
  const known = kept.get(text)
  if (known !== undefined) return known
  const context: Context = {}
  const html = blocksOf(visible(text, 'prose'), context).map((block) => block.html)
  if (context.isPending !== true) {
    kept.set(text, html)
    if (kept.size > KEPT) kept.delete(kept.keys().next().value ?? '')
  }
  return html
}

/** Code in a block that still grows is coloured up to this length. */
const LONGEST_GROWING = 6000

/**
 * Renders a text that grows at its end. Only its last block is parsed again,
 * because Markdown never changes a block once another one has begun.
 */
export class GrowingMarkdown {
  private text = ''
  private lines: string[] = []
  private blocks: Block[] = []
  private readonly context: Context = {}

  update(text: string): readonly string[] {
    if (!text.startsWith(this.text)) this.blocks = []
    this.text = text
    this.lines = visible(text, 'prose').split('\n')
    const from = this.blocks.pop()?.line ?? 0
    const growing = this.lines.slice(from).join('\n')
    this.context.isPlain = growing.length > LONGEST_GROWING
    for (const { line, html } of blocksOf(growing, this.context)) {
      this.blocks.push({ line: line + from, html })
    }
    return this.blocks.map((block) => block.html)
  }
}

function blocksOf(text: string, context: Context): Block[] {
  const tokens = markdown.parse(text, context)
  const lines = tokens.flatMap(({ level, nesting, map }) =>
    level === 0 && nesting !== -1 ? [map?.[0] ?? 0] : [],
  )
  const html = markdown.renderer.render(tokens, markdown.options, context)
  // One pass over all of it: each call of the purifier costs more than what it is given.
  const blocks = [...purifier.sanitize(html, { ...SANITISING, RETURN_DOM_FRAGMENT: true }).children]
  return blocks.map((block, index) => ({ line: lines[index] ?? 0, html: block.outerHTML }))
}

function codeBlock(code: string, language: string, context: Context): string {
  const coloured = context.isPlain === true ? null : highlight(code, language)
  if (coloured === 'pending') context.isPending = true
  const body = coloured === null || coloured === 'pending' ? escapeHtml(code) : coloured
  const label = language === '' ? '' : `<span class="code-language">${escapeHtml(language)}</span>`
  return (
    `<div class="code-block"><div class="code-bar">${label}` +
    '<button type="button" class="code-copy" data-copy="" data-testid="copy-code">Copy</button></div>' +
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

/** Who is at the other end: a host as it is looked up, or the address of a mail. */
function targetOf(href: string): string {
  if (!URL.canParse(href)) return ''
  const { protocol, host, pathname } = new URL(href)
  return protocol === 'mailto:' ? visible(decoded(pathname)) : host
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Only a text that begins with the address itself: letters may look like others, and a user like a host. */
function showsTarget(shown: string, href: string, target: string): boolean {
  if (href === `mailto:${shown}`) return shown === target
  const [start, rest] = [`${new URL(href).protocol}//${target}`, shown.toLowerCase()]
  return rest.startsWith(start) && /^(?:$|[/?#])/.test(rest.slice(start.length))
}

function escapeHtml(text: string): string {
  return markdown.utils.escapeHtml(text)
}
