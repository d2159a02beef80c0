import type { HLJSApi, LanguageFn } from 'highlight.js'
import { shallowRef } from 'vue'

import { baseName } from './paths'

type Load = () => Promise<{ default: LanguageFn }>

/** Each language is a file of its own, loaded when code in it is first shown. */
const LANGUAGES: Record<string, Load> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  diff: () => import('highlight.js/lib/languages/diff'),
  dockerfile: () => import('highlight.js/lib/languages/dockerfile'),
  go: () => import('highlight.js/lib/languages/go'),
  graphql: () => import('highlight.js/lib/languages/graphql'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  lua: () => import('highlight.js/lib/languages/lua'),
  makefile: () => import('highlight.js/lib/languages/makefile'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  nix: () => import('highlight.js/lib/languages/nix'),
  php: () => import('highlight.js/lib/languages/php'),
  protobuf: () => import('highlight.js/lib/languages/protobuf'),
  python: () => import('highlight.js/lib/languages/python'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  scss: () => import('highlight.js/lib/languages/scss'),
  sql: () => import('highlight.js/lib/languages/sql'),
  swift: () => import('highlight.js/lib/languages/swift'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
}

const ALIASES: Record<string, string> = {
  cs: 'csharp',
  'c++': 'cpp',
  console: 'bash',
  docker: 'dockerfile',
  h: 'c',
  hpp: 'cpp',
  html: 'xml',
  js: 'javascript',
  jsonc: 'json',
  jsx: 'javascript',
  kt: 'kotlin',
  make: 'makefile',
  md: 'markdown',
  mjs: 'javascript',
  patch: 'diff',
  proto: 'protobuf',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  svg: 'xml',
  toml: 'ini',
  ts: 'typescript',
  tsx: 'typescript',
  vue: 'xml',
  yml: 'yaml',
  zsh: 'bash',
}

/** Beyond this, colour costs more than it helps. */
const LONGEST = 50_000

let core: HLJSApi | null = null
const requested = new Set<string>()
/** Read by whoever waits for a language, so that it is drawn again when that comes. */
const loaded = shallowRef<ReadonlySet<string>>(new Set())

/**
 * Code as HTML with its own text escaped. Null when the language is not known,
 * and `pending` while it is being loaded: whoever asked reactively asks again.
 */
export function highlight(code: string, language: string): string | null | 'pending' {
  const given = language.toLowerCase()
  const name = ALIASES[given] ?? given
  if (code.length > LONGEST || !Object.hasOwn(LANGUAGES, name)) return null
  if (!loaded.value.has(name) || core === null) {
    void request(name)
    return 'pending'
  }
  return core.highlight(code, { language: name, ignoreIllegals: true }).value
}

/** A stretch of code that has one look; the class names it as the style sheet knows it. */
export interface Token {
  text: string
  className: string
}

/** Code in stretches; a single one while its language is being loaded or is not known. */
export function tokens(code: string, language: string): Token[] {
  const html = highlight(code, language)
  if (html === null || html === 'pending') return [{ text: code, className: '' }]
  const found = readTokens(html)
  // Colours may never change what is read.
  const isWhole = found.map(({ text }) => text).join('') === code
  return isWhole ? found : [{ text: code, className: '' }]
}

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
}

/** The highlighter's HTML knows spans, text and five entities, so it is read without a parser. */
export function readTokens(html: string): Token[] {
  const found: Token[] = []
  const open: string[] = []
  for (const { 0: part, 1: className } of html.matchAll(/<span class="([^"]*)">|<[^>]*>|[^<]+/g)) {
    if (className !== undefined) open.push(className)
    else if (part.startsWith('<')) open.pop()
    else {
      const text = part.replace(
        /&(?:amp|lt|gt|quot|#x27);/g,
        (entity) => ENTITIES[entity] ?? entity,
      )
      found.push({ text, className: open.join(' ') })
    }
  }
  return found
}

/** The language that a file's name tells; one that is not known stays without colours. */
export function languageOf(path: string): string {
  const name = baseName(path).toLowerCase()
  if (/^(dockerfile|makefile)\b/.test(name)) return name.split('.')[0] ?? ''
  return name.includes('.') ? (name.split('.').at(-1) ?? '') : ''
}

async function request(name: string): Promise<void> {
  if (requested.has(name)) return
  requested.add(name)
  try {
    const [highlighter, language] = await Promise.all([
      import('highlight.js/lib/core'),
      LANGUAGES[name]?.(),
    ])
    core = highlighter.default
    if (language === undefined) return
    core.registerLanguage(name, language.default)
    loaded.value = new Set(loaded.value).add(name)
  } catch {
    // Without colours the code is as readable; the next block of the language tries again.
    requested.delete(name)
  }
}
