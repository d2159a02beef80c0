import { call } from './reach'

export type Access = 'granted' | 'unauthorized' | 'unreachable'

/**
 * A browser does not say why a WebSocket was refused, so this asks over HTTP
 * whether it was for want of a token.
 */
export async function checkAccess(): Promise<Access> {
  try {
    const response = await call('/api/me', { cache: 'no-store' })
    return response.status === 401 ? 'unauthorized' : 'granted'
  } catch {
    return 'unreachable'
  }
}
