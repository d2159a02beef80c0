import { expect, test } from 'vitest'

import { fileOption, findTrigger, matchCommands } from './completion'
import { mergeHistory, useHistory } from './useHistory'

/** The caret stands at `|`. */
function trigger(marked: string): string {
  const found = findTrigger(marked.replace('|', ''), marked.indexOf('|'))
  return found === null ? 'none' : `${found.kind} ${found.start}-${found.end} ${found.query}`
}

test.each([
  ['|', 'none'],
  ['@|', 'file 0-1 '],
  ['see @src/a|', 'file 4-10 src/a'],
  ['see (@sr|c/b and', 'file 5-11 sr'],
  ['me@example|', 'none'],
  ['see @a b|', 'none'],
  ['/|', 'command 0-1 '],
  ['/rev|', 'command 0-4 rev'],
  ['/review now|', 'none'],
  ['and /rev|', 'none'],
])('what is completed in %s', (text, expected) => {
  expect(trigger(text)).toBe(expected)
})

test.each([
  ['src/app.ts', '@src/app.ts ', 'app.ts', 'src'],
  ['src/', '@src/', 'src/', ''],
  ['my notes/a b.md', '@"my notes/a b.md" ', 'a b.md', 'my notes'],
])('%s is inserted as %j', (path, insert, label, detail) => {
  expect(fileOption(path)).toMatchObject({ insert, label, detail })
})

test('commands that begin with the word come first', () => {
  const commands = ['pre-review', 'preview', 'review', 'tools:review'].map((name) => ({
    ...{ name, description: '', argument_hint: '' },
  }))
  const names = (query: string) => matchCommands(commands, query).map(({ name }) => name)
  expect(names('rev')).toEqual(['review', 'pre-review', 'tools:review', 'preview'])
  expect(names('view')).toEqual(['pre-review', 'preview', 'review', 'tools:review'])
  expect(names('x')).toEqual([])
})

test('history goes back and forth and leaves what was typed alone', () => {
  const { earlier, later } = useHistory(() => mergeHistory(['one', 'two', 'two'], ['two', 'three']))
  expect(earlier('typed')).toBeNull()
  expect(earlier('')).toBe('three')
  expect(earlier('three')).toBe('two')
  expect(earlier('two')).toBe('one')
  expect(earlier('one')).toBeNull()
  expect(later('one')).toBe('two')
  expect(later('two, changed')).toBeNull()
  expect(later('two')).toBe('three')
  expect(later('three')).toBe('')
})
