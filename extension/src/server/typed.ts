import { readPairLink } from '@ui/connection/pairLink'

/** The two fields of the form, as they were filled in. */
export interface Typed {
  address: string
  code: string
}

export type Field = keyof Typed

/** Which field has to be changed, and how. */
export interface Problem {
  field: Field
  text: string
}

export const USUAL_ADDRESS = 'http://127.0.0.1:7297'

/** Where the server is, without anything behind it; null for what is no address of a server. */
export function readAddress(text: string): string | null {
  const trimmed = text.trim()
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`
  try {
    const url = new URL(full)
    const isWeb = url.protocol === 'http:' || url.protocol === 'https:'
    return isWeb && url.host !== '' ? url.origin : null
  } catch {
    return null
  }
}

/** A whole link in the field of the code says both; the field of the address follows it. */
export function linkAddress(code: string): string | null {
  return code.includes('#pair=') ? readAddress(code) : null
}

export function readTyped({ address, code }: Typed): Problem | { address: string; secret: string } {
  const trimmed = code.trim()
  if (trimmed === '') {
    return { field: 'code', text: 'Paste the link that “sayso pair” prints, or the code in it.' }
  }
  const isLink = trimmed.includes('#')
  const secret = isLink ? readPairLink(trimmed.slice(trimmed.indexOf('#')))?.secret : trimmed
  if (secret === undefined || !/^[\w-]+$/.test(secret)) {
    return {
      field: 'code',
      text: 'This is neither a link nor a code. A link looks like http://127.0.0.1:7297/#pair=….',
    }
  }
  const place = linkAddress(trimmed) ?? readAddress(address)
  if (place === null) {
    return { field: 'address', text: `Write the address like ${USUAL_ADDRESS}, with its port.` }
  }
  return { address: place, secret }
}
