import { StateField, type EditorState } from '@codemirror/state'
import { Decoration, EditorView, WidgetType, type DecorationSet } from '@codemirror/view'

import { chips, type Chip } from '../../text/visible'

export function chipElement({ label, title }: Pick<Chip, 'label' | 'title'>): HTMLElement {
  const element = document.createElement('span')
  element.className = 'cm-chip'
  element.title = title
  element.textContent = label
  return element
}

class ChipWidget extends WidgetType {
  private readonly chip: Chip

  constructor(chip: Chip) {
    super()
    this.chip = chip
  }

  override eq(other: ChipWidget): boolean {
    return other.chip.label === this.chip.label
  }

  override toDOM(): HTMLElement {
    return chipElement(this.chip)
  }

  /** A click beside it sets the cursor, as everywhere in the text. */
  override ignoreEvent(): boolean {
    return false
  }
}

/** Blank lines stay, so that they can be removed one by one, and the first of them is marked. */
function decorate(state: EditorState): DecorationSet {
  const text = state.doc.toString()
  return Decoration.set(
    chips(text).map((chip) => {
      const widget = new ChipWidget(chip)
      return text.slice(chip.from, chip.to).includes('\n')
        ? Decoration.widget({ widget, side: 1 }).range(chip.from)
        : Decoration.replace({ widget }).range(chip.from, chip.to)
    }),
  )
}

/** Shows what a reader could not see; the cursor steps over a chip as over one character. */
export const visibleChips = StateField.define<DecorationSet>({
  create: decorate,
  update: (decorations, { docChanged, state }) => (docChanged ? decorate(state) : decorations),
  provide: (field) => [
    EditorView.decorations.from(field),
    EditorView.atomicRanges.of((view) => view.state.field(field)),
  ],
})
