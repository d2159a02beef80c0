import { readFile } from '@ui/components/composer/readFile'
import type { Attachment } from '@ui/data/attachments'

/** Makes a picture that is in a `data:` address ready to be sent, scaled like any other. */
export async function toAttachment(address: string): Promise<Attachment> {
  return readFile(new File([bytesOf(address)], 'Screenshot.jpg', { type: 'image/jpeg' }))
}

function bytesOf(address: string): Uint8Array<ArrayBuffer> {
  const text = atob(address.slice(address.indexOf(',') + 1))
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
}
