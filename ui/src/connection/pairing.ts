import type { Pair, Paired } from '../protocol.gen'
import { answer, post } from './rest'

export interface PairingAnswer {
  paired: Paired
  /** By the server's clock, where it says so: this page has not met it yet. */
  serverTime: string | null
}

/** Shows the secret of a link. While the answer is "waiting", this is asked again. */
export async function showSecret(secret: string): Promise<PairingAnswer> {
  const response = await post('/api/pair', { secret } satisfies Pair)
  const serverTime = response.headers.get('date')
  return { paired: await answer<Paired>(response), serverTime }
}
