import { LanguageDescription } from '@codemirror/language'
import { languages } from '@codemirror/language-data'
import type { Extension } from '@codemirror/state'

import { baseName } from '../../text/paths'

/** The language that a file's name tells, loaded when it is needed; null when none is known. */
export async function languageFor(filename: string): Promise<Extension | null> {
  const found = LanguageDescription.matchFilename(languages, baseName(filename))
  if (found === null) return null
  try {
    return await found.load()
  } catch {
    // Without colours the text is as readable.
    return null
  }
}
