import { unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, lineNumbers, ViewPlugin } from '@codemirror/view'

import { chips } from '../../text/visible'
import { chipElement } from './chips'
import { exactDocument, exactText } from './document'
import { diffTheme } from './theme'

/** Two texts as one, not to be edited: what goes, what comes, and a little around it. */
export function mergedState(before: string, after: string, extensions: Extension): EditorState {
  return EditorState.create({
    doc: exactText(after),
    extensions: [
      // Of two themes the first one wins.
      diffTheme,
      exactDocument,
      lineNumbers(),
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      unifiedMergeView({
        original: exactText(before),
        mergeControls: false,
        gutter: false,
        collapseUnchanged: { margin: 3, minSize: 4 },
      }),
      finishedWidgets,
      extensions,
    ],
  })
}

/**
 * Removed lines and collapsed ones are elements that the library draws by
 * itself, out of reach of decorations: they are finished after each drawing.
 */
const finishedWidgets = ViewPlugin.define((view) => {
  const observer = new MutationObserver(() => {
    if (finish(view.contentDOM)) view.requestMeasure()
  })
  observer.observe(view.contentDOM, { childList: true, subtree: true })
  return { destroy: () => observer.disconnect() }
})

const FINISHED = 'data-finished'

/** True when there was something to do. */
function finish(content: HTMLElement): boolean {
  const removed = unfinished(content, '.cm-deletedLine')
  const collapsed = unfinished(content, '.cm-collapsedLines')
  removed.forEach(markHidden)
  collapsed.forEach((lines) => makeButton(lines, content))
  return removed.length + collapsed.length > 0
}

function unfinished(content: HTMLElement, selector: string): HTMLElement[] {
  const found = [...content.querySelectorAll<HTMLElement>(`${selector}:not([${FINISHED}])`)]
  for (const element of found) element.setAttribute(FINISHED, '')
  return found
}

/** From the end to the beginning: the places before a chip stay where they were. */
function markHidden(line: HTMLElement): void {
  for (const chip of chips(line.textContent ?? '').reverse()) {
    const range = document.createRange()
    range.setStart(...placeIn(line, chip.from))
    range.setEnd(...placeIn(line, chip.to))
    range.deleteContents()
    range.insertNode(chipElement(chip))
  }
}

/** The text node that holds the offset, and where in it. */
function placeIn(element: HTMLElement, offset: number): [Node, number] {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  let left = offset
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const length = node.nodeValue?.length ?? 0
    if (left <= length) return [node, left]
    left -= length
  }
  return [element, element.childNodes.length]
}

function makeButton(lines: HTMLElement, content: HTMLElement): void {
  lines.tabIndex = 0
  lines.setAttribute('role', 'button')
  lines.title = 'Show these lines'
  lines.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return
    event.preventDefault()
    // Outside, Enter may decide the request.
    event.stopPropagation()
    lines.click()
    content.focus()
  })
}
