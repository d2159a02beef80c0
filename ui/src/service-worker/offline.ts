import { cacheName, DOCUMENT, outdated, type Shell, type Way } from './shell'

/** After so long the kept document is opened; it goes on trying by itself. */
const PATIENCE = 5_000
/** What a proxy says in the name of a server that it cannot reach. */
const UNREACHABLE = [502, 503, 504]

/** Keeps the files of the app, and nothing else, for when the server cannot be reached. */
export class Offline {
  constructor(private readonly shell: Shell) {}

  /** All or nothing: a shell with a part missing would not open. */
  async keep(): Promise<void> {
    const cache = await caches.open(cacheName(this.shell))
    await Promise.all(this.shell.files.map((path) => this.add(cache, path)))
  }

  async removeOutdated(): Promise<void> {
    const names = outdated(await caches.keys(), this.shell)
    await Promise.all(names.map((name) => caches.delete(name)))
  }

  answer(request: Request, way: Exclude<Way, 'untouched'>): Promise<Response> {
    switch (way) {
      case 'document':
        return this.fresh(request, DOCUMENT)
      case 'fresh':
        return this.fresh(request, new URL(request.url).pathname)
      case 'kept':
        return this.kept(request)
    }
  }

  private async add(cache: Cache, path: string): Promise<void> {
    const isHashed = path.startsWith('/assets/')
    const response = await fetch(path, { cache: isHashed ? 'default' : 'no-cache' })
    if (!response.ok) throw new Error(`${path} is missing: ${response.status}`)
    // The server may have been replaced since it gave out this worker.
    if (path === DOCUMENT && (await digest(response.clone())) !== this.shell.document) {
      throw new Error('The document is of another build.')
    }
    await cache.put(path, response)
  }

  private async kept(request: Request): Promise<Response> {
    return (await this.find(new URL(request.url).pathname)) ?? fetch(request)
  }

  private async fresh(request: Request, path: string): Promise<Response> {
    const kept = await this.find(path)
    if (kept === undefined) return fetch(request)
    const asked = fetch(request).then(
      (response) => (UNREACHABLE.includes(response.status) ? kept : response),
      () => kept,
    )
    const waited = new Promise<Response>((resolve) => setTimeout(resolve, PATIENCE, kept))
    return Promise.race([asked, waited])
  }

  private async find(path: string): Promise<Response | undefined> {
    const cache = await caches.open(cacheName(this.shell))
    return cache.match(path)
  }
}

async function digest(response: Response): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', await response.arrayBuffer())
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
