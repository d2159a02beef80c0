import type { ErrorMessage } from '../protocol.gen'
import { RefusedError } from './errors'
import { proven } from './proof'
import { call } from './reach'

/** Reads from the server over HTTP. A refusal is the same error as on the socket. */
export async function getJson<T>(
  path: string,
  parameters: Record<string, string | number>,
  signal?: AbortSignal,
): Promise<T> {
  const query = new URLSearchParams(
    Object.entries(parameters).map(([name, value]) => [name, String(value)]),
  )
  return answer(await call(`${path}?${query}`, { signal: signal ?? null }))
}

/** Reads a file as it is. */
export async function getText(address: string, signal?: AbortSignal): Promise<string> {
  const response = await call(address, { signal: signal ?? null })
  if (!response.ok) throw await refusal(response)
  return response.text()
}

/** Asks for something that is too long for an address, or that changes something. */
export function postJson<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return proven(async () => answer(await post(path, body, signal)))
}

export function deleteJson<T>(path: string): Promise<T> {
  return proven(async () => answer(await call(path, { method: 'DELETE' })))
}

export function putJson<T>(path: string, body: unknown): Promise<T> {
  return proven(async () => answer(await send('PUT', path, body)))
}

/** The same without a word about what came back, and without asking for the password. */
export function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  return send('POST', path, body, signal)
}

function send(
  method: string,
  path: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  return call(path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal: signal ?? null,
  })
}

export async function answer<T>(response: Response): Promise<T> {
  if (!response.ok) throw await refusal(response)
  // The server is the same build as this app; its types are trusted from here on.
  return (response.status === 204 ? undefined : await response.json()) as T
}

async function refusal(response: Response): Promise<Error> {
  try {
    return new RefusedError((await response.json()) as ErrorMessage)
  } catch {
    return new Error(`Sayso answered with status ${response.status}.`)
  }
}
