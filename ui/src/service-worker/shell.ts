/** The files that open the app without its server. Made by the build, of the same build as the worker. */
export interface Shell {
  /** Changes with every file. */
  version: string
  /** Paths from the root. */
  files: readonly string[]
  /** SHA-256 of the document, in hexadecimal. */
  document: string
}

export const DOCUMENT = '/index.html'

const PREFIX = 'sayso-shell-'

export const cacheName = ({ version }: Shell): string => `${PREFIX}${version}`

/** Caches of earlier builds. Those of others are left alone. */
export function outdated(names: readonly string[], shell: Shell): string[] {
  return names.filter((name) => name.startsWith(PREFIX) && name !== cacheName(shell))
}

/**
 * How a request is answered.
 *
 * - `document`: by the server, and without it by the document that is kept.
 * - `kept`: by what is kept. Its name holds a hash of its content.
 * - `fresh`: by the server, and without it by what is kept.
 * - `untouched`: as if there were no worker. All that is not a file of the app, so that nothing of it can
 *   get into the cache.
 */
export type Way = 'document' | 'kept' | 'fresh' | 'untouched'

type Asked = Pick<Request, 'method' | 'mode' | 'destination' | 'url'>

export function wayOf(request: Asked, origin: string, shell: Shell): Way {
  const { pathname, search, origin: asked } = new URL(request.url)
  if (request.method !== 'GET' || asked !== origin) return 'untouched'
  if (request.mode === 'navigate') {
    const isPage = request.destination === 'document' && isOfApp(pathname)
    // A link with a secret in it is between the browser and the server.
    return isPage && !search.includes('token=') ? 'document' : 'untouched'
  }
  if (search !== '' || !shell.files.includes(pathname)) return 'untouched'
  return pathname.startsWith('/assets/') ? 'kept' : 'fresh'
}

/** As the server sees it: addresses of the app have no dot. */
function isOfApp(path: string): boolean {
  return !path.includes('.') && !/^\/(api|compat|healthz)(\/|$)/.test(path)
}
