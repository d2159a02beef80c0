import type { Connection, ConnectionStatus } from '@ui/connection/connection'
import type { ClientMessage } from '@ui/protocol.gen'

import type { PairedServer } from '../kept/server'
import { workerState, type Link, type WorkerState } from '../kept/state'
import { connectionTo } from '../server/connect'
import { badgeFor } from './badge'
import { heard, NOBODY_WAITS, type Waiting } from './waiting'

/**
 * The worker's own connection: it knows who waits while no page is open. It lives as long as the
 * worker, which the traffic on the socket keeps awake.
 */
export class ServerLink {
  private server: PairedServer | null = null
  private connection: Connection | null = null
  private waiting: Waiting = NOBODY_WAITS
  private link: Link = 'unpaired'
  private readonly changed: (waiting: Waiting) => void

  constructor(changed: (waiting: Waiting) => void) {
    this.changed = changed
  }

  get now(): Waiting {
    return this.waiting
  }

  /** Goes over to this server, or to none. */
  follow(server: PairedServer | null): void {
    const isSame = server?.address === this.server?.address && server?.token === this.server?.token
    if (isSame) {
      this.tell()
      return
    }
    this.connection?.disconnect()
    this.server = server
    this.waiting = NOBODY_WAITS
    this.link = server === null ? 'unpaired' : 'connecting'
    this.connection = server && this.connect(server)
    this.tell()
    this.changed(this.waiting)
  }

  /** Tries at once where there is no connection; wakes nothing up that is. */
  wake(): void {
    if (this.link !== 'barred') this.connection?.connect()
  }

  async ask(message: ClientMessage): Promise<void> {
    if (this.connection === null) throw new Error('Not paired with a server.')
    await this.connection.ask(message)
  }

  private connect(server: PairedServer): Connection {
    const connection = connectionTo(server, {
      receive: (message) => {
        const before = this.waiting
        this.waiting = heard(before, message)
        if (this.waiting === before) return
        this.tell()
        this.changed(this.waiting)
      },
      statusChanged: (status) => {
        this.link = linkAfter(this.link, status)
        this.tell()
      },
    })
    connection.connect()
    return connection
  }

  private tell(): void {
    const name = this.waiting.me?.name ?? null
    const waiting = this.waiting.requests.length
    const state: WorkerState = { link: this.link, waiting, name }
    void workerState.write(state)
    show(state, this.server?.address ?? '')
  }
}

/** A try that follows a failure is no news until it has succeeded. */
function linkAfter(before: Link, status: ConnectionStatus): Link {
  switch (status) {
    case 'connected':
      return 'connected'
    case 'unauthorized':
      return 'barred'
    case 'offline':
      return 'offline'
    case 'connecting':
      return before === 'offline' ? before : 'connecting'
  }
}

function show(state: WorkerState, address: string): void {
  const { text, background, colour, title } = badgeFor(state, address)
  void chrome.action.setBadgeText({ text })
  void chrome.action.setBadgeBackgroundColor({ color: background })
  void chrome.action.setBadgeTextColor({ color: colour })
  void chrome.action.setTitle({ title })
}
