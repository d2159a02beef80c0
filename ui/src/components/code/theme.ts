import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/**
 * The design tokens reach into the shadow root, so light and dark need nothing
 * of their own here. The frame and the focus ring are the host element's.
 */
export const theme = EditorView.theme({
  '&': { color: 'var(--text)', fontSize: 'inherit' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', overflow: 'visible' },
  '.cm-content': {
    minHeight: 'var(--control)',
    padding: 'var(--space-2) 0',
    caretColor: 'var(--text)',
  },
  '.cm-line': { padding: '0 var(--space-3)', overflowWrap: 'anywhere' },
  '.cm-chip': {
    borderRadius: '3px',
    background: 'var(--red-tint)',
    color: 'var(--red)',
    fontWeight: '600',
  },
})

const SIGN = { position: 'absolute', left: 'var(--space-2)' }

/** Every changed line has its sign; the colour only repeats it. */
export const diffTheme = EditorView.theme({
  '.cm-content:focus-visible': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-gutters': {
    border: 'none',
    background: 'transparent',
    color: 'var(--text-quiet)',
    fontVariantNumeric: 'tabular-nums',
  },
  '.cm-lineNumbers .cm-gutterElement': {
    minWidth: '40px',
    padding: '0 var(--space-1) 0 var(--space-2)',
  },
  '.cm-line, .cm-deletedLine': {
    position: 'relative',
    padding: '0 var(--space-3) 0 var(--space-6)',
    overflowWrap: 'anywhere',
  },
  '&.cm-merge-b .cm-changedLine': { background: 'var(--green-tint)' },
  '.cm-changedLine::before': { ...SIGN, content: '"+"', color: 'var(--green)' },
  '&.cm-merge-b .cm-changedText': {
    background: 'none',
    boxShadow: 'inset 0 -2px 0 var(--green)',
  },
  '& .cm-deletedChunk': { paddingLeft: '0', background: 'var(--red-tint)' },
  '.cm-deletedLine::before': { ...SIGN, content: '"−"', color: 'var(--red)' },
  '&.cm-merge-b .cm-deletedChunk .cm-deletedText': {
    background: 'none',
    boxShadow: 'inset 0 -2px 0 var(--red)',
  },
  // On the tint of a removed line the chip needs an edge.
  '.cm-changedLine .cm-chip, .cm-deletedLine .cm-chip': {
    background: 'var(--surface)',
    boxShadow: 'inset 0 0 0 1px var(--red)',
  },
  '& .cm-collapsedLines': {
    padding: 'var(--space-1) var(--space-3) var(--space-1) var(--space-6)',
    background: 'var(--surface)',
    color: 'var(--text-quiet)',
    fontFamily: 'var(--font)',
  },
  '& .cm-collapsedLines:hover': { background: 'var(--hover)' },
  '& .cm-collapsedLines:focus-visible': {
    outline: '2px solid var(--focus)',
    outlineOffset: '-2px',
  },
  '& .cm-collapsedLines:before': { content: '"⋯"', marginInlineEnd: 'var(--space-2)' },
  '& .cm-collapsedLines:after': { content: 'none' },
})

/** The same groups as the style sheet has for code in a conversation. */
export const colours: Extension = syntaxHighlighting(
  HighlightStyle.define([
    {
      tag: [tags.keyword, tags.bool, tags.null, tags.atom, tags.self, tags.typeName, tags.modifier],
      color: 'var(--code-keyword)',
    },
    {
      tag: [tags.string, tags.special(tags.string), tags.regexp, tags.character, tags.inserted],
      color: 'var(--code-string)',
    },
    {
      tag: [tags.number, tags.special(tags.variableName), tags.escape, tags.unit, tags.color],
      color: 'var(--code-number)',
    },
    {
      tag: [
        tags.definition(tags.variableName),
        tags.function(tags.variableName),
        tags.function(tags.propertyName),
        tags.propertyName,
        tags.attributeName,
        tags.tagName,
        tags.className,
        tags.heading,
        tags.labelName,
      ],
      color: 'var(--code-title)',
    },
    { tag: [tags.comment, tags.meta, tags.quote], color: 'var(--text-quiet)' },
    { tag: tags.deleted, color: 'var(--red)' },
    { tag: [tags.link, tags.url], color: 'var(--accent)' },
    { tag: [tags.heading, tags.strong], fontWeight: '600' },
    { tag: tags.emphasis, fontStyle: 'italic' },
  ]),
)
