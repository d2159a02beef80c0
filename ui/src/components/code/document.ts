import { EditorState, Text, type Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'

import { visibleChips } from './chips'
import { colours, theme } from './theme'

/**
 * What editor and comparison share. Only a line feed ends a line: a carriage
 * return is a character of the text, stays in it and is shown.
 */
export const exactDocument: Extension = [
  EditorState.lineSeparator.of('\n'),
  EditorState.tabSize.of(4),
  EditorView.lineWrapping,
  visibleChips,
  theme,
  colours,
]

export function exactText(text: string): Text {
  return Text.of(text.split('\n'))
}
