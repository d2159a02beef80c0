/**
 * How the server is reached. Its own pages are where it is, and their cookie lets them in; a page
 * from elsewhere, such as one of the extension, names the address and shows a token.
 */
export interface Reach {
  /** Without a slash at its end; empty for the server's own pages. */
  address: string
  token: string | null
}

let reach: Reach = { address: '', token: null }

export function reachBy(other: Reach): void {
  reach = other
}

/** Asks the server for something under one of its own paths. */
export function call(path: string, init: RequestInit = {}): Promise<Response> {
  const { address, token } = reach
  if (token === null) return fetch(`${address}${path}`, init)
  const headers = new Headers(init.headers)
  headers.set('Authorization', `Bearer ${token}`)
  return fetch(`${address}${path}`, { ...init, headers, credentials: 'omit' })
}

/** Whether this page came from the server, so that links to it find it, with the cookie. */
export function isOwnPage(): boolean {
  return reach.address === ''
}

/** What scripts and other tabs call the server. */
export function serverAddress(): string {
  return isOwnPage() ? window.location.origin : reach.address
}
