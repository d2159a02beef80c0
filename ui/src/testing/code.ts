import { EditorView } from '@codemirror/view'
import { vi } from 'vitest'

/** What the editor asks of a browser and jsdom lacks: selections in a shadow root, and a layout. */
export function installEditor(): void {
  document.execCommand = () => false
  Range.prototype.getClientRects = () => [] as unknown as DOMRectList
}

/** The editors below an element, which stand in shadow roots where queries do not look. */
function editorsIn(element: Element): EditorView[] {
  return [element, ...element.querySelectorAll('*')].flatMap(({ shadowRoot }) => {
    const content = shadowRoot?.querySelector<HTMLElement>('.cm-content')
    const view = content ? EditorView.findFromDOM(content) : null
    return view === null ? [] : [view]
  })
}

/** The editor with the test id, as soon as it has been loaded. */
export function findEditor(element: Element, testid: string): Promise<EditorView> {
  return vi.waitFor(() => {
    const found = editorsIn(element).find(({ contentDOM }) => contentDOM.dataset.testid === testid)
    if (found === undefined) throw new Error(`There is no editor ${testid}.`)
    return found
  })
}

/** Puts a text in place of what stands in the editor. */
export function typeInto(view: EditorView, text: string): void {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } })
}
