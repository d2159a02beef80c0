/** Where an address really leads. */
export interface WebAddress {
  /** As it is looked up, in ASCII, with its port if that is unusual. */
  host: string
  /** As the agent wrote it, when that reads differently. */
  written: string | null
  /** Something stands before the host that could be taken for it. */
  hasUser: boolean
  isEncrypted: boolean
}

/** Null when it is no complete address of the web. */
export function readWebAddress(text: string): WebAddress | null {
  if (!URL.canParse(text)) return null
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null
  const hasUser = url.username !== '' || url.password !== ''
  const written = /^[a-z]+:[\\/]*([^\\/?#]*)/i.exec(text.trim())?.[1]?.split('@').at(-1) ?? ''
  const isSame = written.toLowerCase() === url.host || written.toLowerCase() === defaultPort(url)
  const isEncrypted = url.protocol === 'https:'
  return { host: url.host, written: isSame ? null : written, hasUser, isEncrypted }
}

/** With the port that an address has anyway, which the browser leaves out. */
function defaultPort(url: URL): string {
  return `${url.hostname}:${url.protocol === 'https:' ? 443 : 80}`
}
