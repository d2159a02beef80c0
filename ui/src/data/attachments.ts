import type { ContentBlock } from '../protocol.gen'

/** A file that goes with a message. Kept in this tab's memory only: a reload forgets it. */
export interface Attachment {
  key: number
  name: string
  /** As it is sent, in bytes. */
  size: number
  block: Exclude<ContentBlock, { type: 'text' }>
}

export const LARGEST_ATTACHMENT = 5 * 1024 * 1024
/** The server takes 8 MB in a frame; the rest of the frame needs room too. */
export const LARGEST_MESSAGE = 7 * 1024 * 1024
export const MOST_ATTACHMENTS = 20

let nextKey = 1

export function makeAttachment(name: string, block: Attachment['block']): Attachment {
  return { key: nextKey++, name, size: block.data.length, block }
}

/** Images stand before the words about them, as models prefer. */
export function toContent(text: string, attachments: readonly Attachment[]): ContentBlock[] {
  const blocks: ContentBlock[] = attachments.map(({ block }) => block)
  return text === '' ? blocks : [...blocks, { type: 'text', text }]
}

export function fromContent(content: readonly ContentBlock[]): {
  text: string
  attachments: Attachment[]
} {
  const text = textOf(content)
  const attachments = content.flatMap((block) =>
    block.type === 'text' ? [] : [makeAttachment(blockName(block), block)],
  )
  return { text, attachments }
}

export function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

export function blockName(block: Attachment['block']): string {
  if (block.type === 'image') return 'Image'
  return block.title ?? (block.media_type === 'application/pdf' ? 'PDF' : 'Text')
}

/** Why these cannot go out together, in words; `null` when they can. */
export function messageProblem(text: string, attachments: readonly Attachment[]): string | null {
  const size = attachments.reduce((sum, attachment) => sum + attachment.size, byteLength(text))
  if (size <= LARGEST_MESSAGE) return null
  return attachments.length === 0
    ? `This text has ${sizeText(size)}; a message may have ${sizeText(LARGEST_MESSAGE)}. Put it into a file and name that with @.`
    : `Together this is ${sizeText(size)}; a message may have ${sizeText(LARGEST_MESSAGE)}. Remove an attachment, or send two messages.`
}

/** `512 B`, `34 KB`, `4.2 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`
  const megabytes = bytes / (1024 * 1024)
  return `${Number.isInteger(megabytes) ? megabytes : megabytes.toFixed(1)} MB`
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}
