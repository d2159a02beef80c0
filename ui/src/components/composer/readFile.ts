import {
  LARGEST_ATTACHMENT,
  makeAttachment,
  sizeText,
  type Attachment,
} from '../../data/attachments'

/** More pixels than this are scaled down by the model's service anyway, after a slow upload. */
export const LONGEST_SIDE = 1568
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const PDF = 'application/pdf'
const JPEG_QUALITY = 0.85

/** What a file dialog offers first; anything that turns out to be text is taken too. */
export const ACCEPTED = [...IMAGE_TYPES, PDF, 'text/*'].join(',')

/** Why a file cannot be attached, in a sentence for people. */
export class AttachmentError extends Error {}

/** Makes a file ready to be sent. */
export async function readFile(file: File): Promise<Attachment> {
  if (IMAGE_TYPES.includes(file.type)) return readImage(file)
  if (file.type === PDF || file.name.toLowerCase().endsWith('.pdf')) {
    const data = await toBase64(file)
    return checked(file, { type: 'document', media_type: PDF, data, title: file.name })
  }
  return readText(file)
}

async function readImage(file: File): Promise<Attachment> {
  const image = await createImageBitmap(file).catch(() => {
    throw new AttachmentError(`${file.name} cannot be read as an image.`)
  })
  const longest = Math.max(image.width, image.height)
  const isFit = longest <= LONGEST_SIDE && base64Length(file.size) <= LARGEST_ATTACHMENT
  const blob = isFit ? file : await redraw(image, Math.min(1, LONGEST_SIDE / longest), file.type)
  image.close()
  const data = await toBase64(blob)
  return checked(file, { type: 'image', media_type: blob.type, data })
}

/** Keeps the type where the browser can write it and the result is small enough. */
async function redraw(image: ImageBitmap, scale: number, type: string): Promise<Blob> {
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(image.width * scale))
  canvas.height = Math.max(1, Math.round(image.height * scale))
  const context = canvas.getContext('2d')
  if (context === null) throw new AttachmentError('This browser cannot scale the image down.')
  context.imageSmoothingQuality = 'high'
  context.drawImage(image, 0, 0, canvas.width, canvas.height)
  const blob = await toBlob(canvas, type)
  return base64Length(blob.size) <= LARGEST_ATTACHMENT ? blob : toBlob(canvas, 'image/jpeg')
}

function toBlob(canvas: HTMLCanvasElement, type: string): Promise<Blob> {
  return new Promise((resolve, reject) => {
    const done = (blob: Blob | null): void =>
      blob === null
        ? reject(new AttachmentError('This browser cannot scale the image down.'))
        : resolve(blob)
    canvas.toBlob(done, type, JPEG_QUALITY)
  })
}

/** A browser's guess at a type says little about source code, so the bytes decide. */
async function readText(file: File): Promise<Attachment> {
  if (file.size > LARGEST_ATTACHMENT) throw tooLarge(file, file.size)
  const data = await read(file, 'readAsText')
  // What is not UTF-8 was read as replacement characters.
  if (/[\0\ufffd]/.test(data)) {
    throw new AttachmentError(
      `${file.name} cannot be attached. Images (PNG, JPEG, GIF, WebP), PDFs and text files can.`,
    )
  }
  return checked(file, { type: 'document', media_type: 'text/plain', data, title: file.name })
}

function checked(file: File, block: Attachment['block']): Attachment {
  const attachment = makeAttachment(file.name, block)
  if (attachment.size === 0) throw new AttachmentError(`${file.name} is empty.`)
  if (attachment.size > LARGEST_ATTACHMENT) throw tooLarge(file, attachment.size)
  return attachment
}

function tooLarge({ name }: File, size: number): AttachmentError {
  return new AttachmentError(
    `${name} has ${sizeText(size)}; an attachment may have ${sizeText(LARGEST_ATTACHMENT)}.`,
  )
}

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4
}

async function toBase64(blob: Blob): Promise<string> {
  const url = await read(blob, 'readAsDataURL')
  return url.slice(url.indexOf(',') + 1)
}

function read(blob: Blob, how: 'readAsText' | 'readAsDataURL'): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onerror = () => reject(new AttachmentError('The file cannot be read.'))
    reader.onload = () => resolve(String(reader.result))
    reader[how](blob)
  })
}
