import { watch } from 'vue'

import { useRequests } from '../../data/requests'
import { useServer } from '../../data/server'
import type { PendingRequest } from '../../protocol.gen'

export interface Arrival {
  fresh: readonly PendingRequest[]
  /** They were waiting before this page was opened. */
  isSnapshot: boolean
}

/** Tells of every request that this page did not know before. */
export function useArrivals(arrived: (arrival: Arrival) => void): void {
  const requests = useRequests()
  const server = useServer()
  let hadSnapshot = server.known

  watch(
    () => requests.open,
    (now, before) => {
      const isSnapshot = !hadSnapshot
      hadSnapshot = server.known
      const known = new Set(before.map(({ request_id }) => request_id))
      const fresh = now.filter(({ request_id }) => !known.has(request_id))
      if (fresh.length > 0) arrived({ fresh, isSnapshot })
    },
  )
}
