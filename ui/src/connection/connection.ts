import type { Ack, ClientMessage, ServerMessage } from '../protocol.gen'
import type { Access } from './access'
import { backoffDelay } from './backoff'
import { RefusedError, UnansweredError } from './errors'

export type ConnectionStatus = 'connecting' | 'connected' | 'offline' | 'unauthorized'

export interface ConnectionOptions {
  url: string
  receive: (message: ServerMessage) => void
  statusChanged: (status: ConnectionStatus) => void
  /** When the next attempt is due, by this machine's clock. */
  retryPlanned?: (at: number) => void
  checkAccess: () => Promise<Access>
  createSocket?: (url: string) => WebSocket
  random?: () => number
}

interface Waiting {
  resolve: (ack: Ack) => void
  reject: (error: Error) => void
  timer: ReturnType<typeof setTimeout>
}

type SocketState =
  | { kind: 'closed'; retry: ReturnType<typeof setTimeout> | null }
  | { kind: 'open'; socket: WebSocket; greeted: boolean }

const ANSWER_TIMEOUT = 15_000
const HEARTBEAT_INTERVAL = 25_000
const HEARTBEAT_TIMEOUT = 10_000
/** The server closes with it when this device may no longer come in. */
const SHUT_OUT = 4401
/** And with this when it may do other things than before: the next welcome says which. */
const CHANGED = 4100

/**
 * One WebSocket to the server, kept alive. Lives as long as the page: it
 * reconnects by itself, and pairs each client message with its answer by `id`.
 * It counts as connected once the server has spoken on it.
 */
export class Connection {
  private readonly options: ConnectionOptions
  private readonly waiting = new Map<string, Waiting>()
  private state: SocketState = { kind: 'closed', retry: null }
  private heartbeat: ReturnType<typeof setInterval> | null = null
  private failures = 0
  private nextId = 1

  constructor(options: ConnectionOptions) {
    this.options = options
  }

  /** Connects now, also when a retry is due later. Does nothing while a socket exists. */
  connect(): void {
    if (this.state.kind === 'open') return
    if (this.state.retry !== null) clearTimeout(this.state.retry)
    this.options.statusChanged('connecting')
    const create = this.options.createSocket ?? ((url: string) => new WebSocket(url))
    const socket = create(this.options.url)
    this.state = { kind: 'open', socket, greeted: false }
    socket.addEventListener('message', (event) => this.read(socket, event.data))
    socket.addEventListener('close', ({ code }) => this.closed(socket, code))
  }

  /** Ends the connection for good. */
  disconnect(): void {
    const { state } = this
    if (state.kind === 'open') {
      this.state = { kind: 'closed', retry: null }
      state.socket.close()
    } else if (state.retry !== null) {
      clearTimeout(state.retry)
    }
    this.stopHeartbeat()
    this.rejectWaiting()
  }

  /** Sends a message and waits for its `ack`; an `error` rejects. */
  ask(message: ClientMessage, timeout = ANSWER_TIMEOUT): Promise<Ack> {
    if (this.state.kind !== 'open' || !this.state.greeted) {
      return Promise.reject(new UnansweredError('offline'))
    }
    const { socket } = this.state
    const id = String(this.nextId++)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id)
        reject(new UnansweredError('timeout'))
      }, timeout)
      this.waiting.set(id, { resolve, reject, timer })
      socket.send(JSON.stringify({ ...message, id }))
    })
  }

  private read(socket: WebSocket, data: unknown): void {
    if (this.state.kind !== 'open' || this.state.socket !== socket) return
    const message = parse(data)
    if (message === null) return
    if (!this.state.greeted) {
      this.state.greeted = true
      this.failures = 0
      this.startHeartbeat(socket)
      this.options.receive(message)
      this.options.statusChanged('connected')
      return
    }
    if (message.type === 'ack' || message.type === 'error') this.settle(message)
    this.options.receive(message)
  }

  private settle(message: Extract<ServerMessage, { type: 'ack' | 'error' }>): void {
    const waiting = message.id === undefined ? undefined : this.waiting.get(message.id)
    if (message.id === undefined || waiting === undefined) return
    this.waiting.delete(message.id)
    clearTimeout(waiting.timer)
    if (message.type === 'ack') waiting.resolve(message)
    else waiting.reject(new RefusedError(message))
  }

  private closed(socket: WebSocket, code?: number): void {
    if (this.state.kind !== 'open' || this.state.socket !== socket) return
    const refused = !this.state.greeted
    this.state = { kind: 'closed', retry: null }
    this.stopHeartbeat()
    this.rejectWaiting()
    if (code === SHUT_OUT) {
      this.options.statusChanged('unauthorized')
      return
    }
    if (code === CHANGED && !refused) {
      this.connect()
      return
    }
    this.options.statusChanged('offline')
    if (refused) void this.afterRefusal()
    else this.retryLater()
  }

  private async afterRefusal(): Promise<void> {
    const access = await this.options.checkAccess()
    if (this.state.kind !== 'closed' || this.state.retry !== null) return
    if (access === 'unauthorized') this.options.statusChanged('unauthorized')
    else this.retryLater()
  }

  private retryLater(): void {
    const random = this.options.random ?? Math.random
    const delay = backoffDelay(this.failures++, random())
    const retry = setTimeout(() => {
      this.state = { kind: 'closed', retry: null }
      this.connect()
    }, delay)
    this.state = { kind: 'closed', retry }
    this.options.retryPlanned?.(Date.now() + delay)
  }

  private rejectWaiting(): void {
    for (const { reject, timer } of this.waiting.values()) {
      clearTimeout(timer)
      reject(new UnansweredError('lost'))
    }
    this.waiting.clear()
  }

  /** A sleeping laptop keeps a dead socket open for minutes; a ping finds out. */
  private startHeartbeat(socket: WebSocket): void {
    this.stopHeartbeat()
    this.heartbeat = setInterval(() => {
      this.ask({ type: 'ping' }, HEARTBEAT_TIMEOUT).catch((error: unknown) => {
        if (!(error instanceof UnansweredError) || error.reason !== 'timeout') return
        this.closed(socket)
        socket.close()
      })
    }, HEARTBEAT_INTERVAL)
  }

  private stopHeartbeat(): void {
    if (this.heartbeat !== null) clearInterval(this.heartbeat)
    this.heartbeat = null
  }
}

function parse(data: unknown): ServerMessage | null {
  if (typeof data !== 'string') return null
  try {
    const value: unknown = JSON.parse(data)
    const isMessage = typeof value === 'object' && value !== null && 'type' in value
    // The server is the same build as this app; its types are trusted from here on.
    return isMessage ? (value as ServerMessage) : null
  } catch {
    console.error('A frame from the server is not JSON.')
    return null
  }
}
