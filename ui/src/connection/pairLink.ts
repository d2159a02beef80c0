/** What a link or a QR code brings along to let this browser in. */
export interface PairLink {
  secret: string
  /** Of the server's certificate, for the human to compare. */
  fingerprint: string | null
}

export function readPairLink(hash: string): PairLink | null {
  const parts = new URLSearchParams(hash.replace(/^#/, ''))
  const secret = parts.get('pair')
  return secret ? { secret, fingerprint: parts.get('fp') || null } : null
}

/** Takes the secret out of the address bar, before anything can keep or send it. */
export function takePairLink(page: Pick<Window, 'location' | 'history'>): PairLink | null {
  const { pathname, search, hash } = page.location
  const link = readPairLink(hash)
  if (link !== null) page.history.replaceState(null, '', pathname + search)
  return link
}
