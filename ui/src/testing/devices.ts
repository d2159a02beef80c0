import { vi } from 'vitest'

import type { Device, Pairing, PairingLink } from '../protocol.gen'
import { DEVICE } from './fixtures'

export const PHONE = '00000000-0000-4000-8000-0000000000d2'
export const PAIRING = '00000000-0000-4000-8000-0000000000e1'

export function makeDevice(part: Partial<Device> = {}): Device {
  return {
    device_id: DEVICE,
    kind: 'browser',
    name: 'Chrome on Linux',
    scopes: ['view', 'answer', 'approve', 'rules', 'admin'],
    created_at: '2026-01-01T00:00:00Z',
    last_seen_at: '2026-01-02T03:57:00Z',
    connections: 1,
    ...part,
  }
}

export function makePairing(part: Partial<Pairing> = {}): Pairing {
  return {
    pairing_id: PAIRING,
    scopes: ['view', 'answer', 'approve'],
    expires_at: '2026-01-02T04:02:00Z',
    ...part,
  }
}

/** A pairing whose link was used. */
export function makeClaimed(part: Partial<Pairing> = {}): Pairing {
  const claim = { name: 'Safari on iPhone', address: '192.168.0.7', code: '123456' }
  return makePairing({ claim, ...part })
}

export function makeLink(part: Partial<PairingLink> = {}): PairingLink {
  return {
    pairing: makePairing(),
    url: 'https://192.168.0.2:7297/#pair=secret',
    qr: { size: 2, modules: '1001' },
    ...part,
  }
}

export interface Sent {
  method: string
  path: string
  body: unknown
}

/** What the server says to a call: a status and a body, in turn; the last one stays. */
export type Answers = Record<string, [status: number, body: unknown][]>

/** Answers `fetch` by `METHOD /path`, and collects what would change something. */
export function answerCalls(answers: Answers): Sent[] {
  const sent: Sent[] = []
  vi.stubGlobal('fetch', (address: string, init: RequestInit = {}) => {
    const { method = 'GET', body } = init
    const path = new URL(address, 'http://sayso.test').pathname
    if (method !== 'GET') sent.push({ method, path, body: body && JSON.parse(String(body)) })
    const prepared = answers[`${method} ${path}`]
    if (prepared === undefined) return Promise.reject(new TypeError('Failed to fetch'))
    const [status, answer] = (prepared.length > 1 ? prepared.shift() : prepared[0]) ?? [500, {}]
    return Promise.resolve(Response.json(answer, { status }))
  })
  return sent
}
