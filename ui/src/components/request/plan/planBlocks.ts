import MarkdownIt from 'markdown-it'

import { visible } from '../../../text/visible'

const parser = new MarkdownIt({ html: false })

/** The source of each block that `renderMarkdown` turns into a piece of HTML, in the same order. */
export function sourceBlocks(text: string): string[] {
  const lines = text.split('\n')
  return parser
    .parse(visible(text, 'prose'), {})
    .filter(({ level, nesting }) => level === 0 && nesting !== -1)
    .map(({ map }) =>
      map === null
        ? ''
        : lines
            .slice(...map)
            .join('\n')
            .trimEnd(),
    )
}
