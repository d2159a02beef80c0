import { getJson } from '../connection/rest'
import type { Baseline } from '../protocol.gen'

/** The plan that the same session had proposed before this one, if any. */
export async function planBefore(requestId: string, signal: AbortSignal): Promise<string | null> {
  const path = `/api/requests/${encodeURIComponent(requestId)}/baseline`
  const baseline = await getJson<Baseline>(path, {}, signal)
  return baseline.kind === 'plan' ? baseline.text : null
}
