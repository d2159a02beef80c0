import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { LARGEST_ATTACHMENT } from '../../data/attachments'
import { LONGEST_SIDE, readFile } from './readFile'

/** The sizes that canvases were given, and the types that they were written as. */
let drawn: string[]

beforeEach(() => {
  drawn = []
  imageOf(10, 10)
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue({
    drawImage: () => undefined,
  } as unknown as CanvasRenderingContext2D)
  vi.spyOn(HTMLCanvasElement.prototype, 'toBlob').mockImplementation(function (
    this: HTMLCanvasElement,
    done,
    type,
  ) {
    drawn.push(`${this.width}x${this.height} ${type}`)
    // A browser cannot write GIFs; a PNG stands in for one.
    const written = type === 'image/gif' ? 'image/png' : type
    const bytes = type === 'image/png' && this.width === LONGEST_SIDE ? LARGEST_ATTACHMENT : 3
    done(new Blob([new Uint8Array(bytes)], { type: written ?? '' }))
  })
})
afterEach(() => vi.unstubAllGlobals())

function imageOf(width: number, height: number): void {
  vi.stubGlobal('createImageBitmap', () =>
    Promise.resolve({ width, height, close: () => undefined }),
  )
}

const file = (name: string, type: string, content: BlobPart = 'abc') =>
  new File([content], name, { type })

test('a small image is sent as it is', async () => {
  const { block, size, name } = await readFile(file('a.png', 'image/png'))
  expect(block).toEqual({ type: 'image', media_type: 'image/png', data: 'YWJj' })
  expect([name, size, drawn]).toEqual(['a.png', 4, []])
})

test.each([
  ['image/jpeg', 3136, 1568, ['1568x784 image/jpeg'], 'image/jpeg'],
  ['image/gif', 400, 3136, ['200x1568 image/gif'], 'image/png'],
  ['image/png', 3136, 3136, ['1568x1568 image/png', '1568x1568 image/jpeg'], 'image/jpeg'],
])('a %s of %i × %i is scaled down', async (type, width, height, expected, sent) => {
  imageOf(width, height)
  const { block } = await readFile(file('a', type))
  expect(drawn).toEqual(expected)
  expect(block.media_type).toBe(sent)
})

test.each([
  ['paper.pdf', 'application/pdf', { media_type: 'application/pdf', data: 'YWJj' }],
  ['main.ts', 'video/mp2t', { media_type: 'text/plain', data: 'abc' }],
])('%s goes as a document with its name', async (name, type, expected) => {
  const { block } = await readFile(file(name, type))
  expect(block).toEqual({ type: 'document', title: name, ...expected })
})

test.each<[string, File, string]>([
  ['binary', file('a.zip', '', new Uint8Array([80, 75, 255, 0])), 'a.zip cannot be attached'],
  ['empty', file('a.txt', 'text/plain', ''), 'a.txt is empty'],
  [
    'too large',
    file('a.pdf', 'application/pdf', new Uint8Array(LARGEST_ATTACHMENT)),
    'a.pdf has 6.7 MB; an attachment may have 5 MB',
  ],
])('a file that is %s is refused in words', async (_, refused, words) => {
  await expect(readFile(refused)).rejects.toThrow(words)
})
