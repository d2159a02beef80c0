import { checkAccess } from '@ui/connection/access'
import { socketAddress } from '@ui/connection/address'
import { Connection, type ConnectionOptions } from '@ui/connection/connection'
import { reachBy } from '@ui/connection/reach'

import type { PairedServer } from '../kept/server'

const PROTOCOL = 'sayso'

type Events = Pick<ConnectionOptions, 'receive' | 'statusChanged' | 'retryPlanned'>

/**
 * A connection with the extension's own token. A page can set no header on a socket, so the token
 * is among the protocols; the server answers with the other one.
 */
export function connectionTo({ address, token }: PairedServer, events: Events): Connection {
  reachBy({ address, token })
  return new Connection({
    ...events,
    url: socketAddress(new URL(address)),
    createSocket: (url) => new WebSocket(url, [PROTOCOL, `${PROTOCOL}.bearer.${token}`]),
    checkAccess,
  })
}
