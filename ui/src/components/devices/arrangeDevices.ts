import type { Device } from '../../protocol.gen'

/** This device first, then the last that was there. Connected ones stay above those that are gone. */
export function arrangeDevices(
  devices: readonly Device[],
  own: string | null,
): { browsers: Device[]; tokens: Device[] } {
  const weight = ({ device_id, connections }: Device): number =>
    device_id === own ? 2 : Math.min(1, connections)
  const sorted = [...devices].sort(
    (a, b) => weight(b) - weight(a) || Date.parse(b.last_seen_at) - Date.parse(a.last_seen_at),
  )
  return {
    browsers: sorted.filter(({ kind }) => kind !== 'token'),
    tokens: sorted.filter(({ kind }) => kind === 'token'),
  }
}
