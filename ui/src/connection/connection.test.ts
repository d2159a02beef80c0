import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WebSocketServer, type WebSocket as ServerSocket } from 'ws'

import type { ServerMessage } from '../protocol.gen'
import { makeWelcome } from '../testing/fixtures'
import type { Access } from './access'
import { backoffDelay } from './backoff'
import { Connection, type ConnectionStatus } from './connection'
import { RefusedError, UnansweredError } from './errors'

interface Frame {
  id: string
  type: string
}

/** A real WebSocket server whose answers a test sets. */
class Peer {
  readonly server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  readonly sockets: ServerSocket[] = []
  onFrame: (frame: Frame, socket: ServerSocket) => void = () => undefined
  greets = true

  constructor() {
    this.server.on('connection', (socket) => {
      this.sockets.push(socket)
      socket.on('message', (data) => this.onFrame(JSON.parse(String(data)) as Frame, socket))
      if (this.greets) socket.send(JSON.stringify(makeWelcome()))
      else socket.close()
    })
  }

  async url(): Promise<string> {
    if (this.server.address() === null)
      await new Promise((done) => this.server.once('listening', done))
    return `ws://127.0.0.1:${(this.server.address() as { port: number }).port}`
  }
}

let peer: Peer
let connection: Connection
let statuses: ConnectionStatus[]
let received: ServerMessage[]
let access: Access
let watchers: (() => void)[]

/** Resolves as soon as `condition` holds, looked at whenever something happens. */
function until(condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (condition()) resolve()
    }
    watchers.push(look)
    look()
  })
}

function happened(): void {
  for (const look of watchers) look()
}

beforeEach(async () => {
  peer = new Peer()
  statuses = []
  received = []
  watchers = []
  access = 'granted'
  connection = new Connection({
    url: await peer.url(),
    receive: (message) => {
      received.push(message)
      happened()
    },
    statusChanged: (status) => {
      statuses.push(status)
      happened()
    },
    checkAccess: () => Promise.resolve(access),
    random: () => 0,
  })
})

afterEach(() => {
  connection.disconnect()
  for (const socket of peer.sockets) socket.terminate()
  peer.server.close()
})

async function connected(): Promise<void> {
  connection.connect()
  await until(() => statuses.at(-1) === 'connected')
}

test('counts as connected once the server has spoken', async () => {
  await connected()
  expect(statuses).toEqual(['connecting', 'connected'])
  expect(received.map(({ type }) => type)).toEqual(['welcome'])
})

test('pairs answers with questions by id, whatever their order', async () => {
  await connected()
  const waiting: Frame[] = []
  peer.onFrame = (frame, socket) => {
    waiting.push(frame)
    if (waiting.length < 2) return
    const [first, second] = waiting as [Frame, Frame]
    socket.send(JSON.stringify({ type: 'ack', id: second.id, session_id: 'second' }))
    socket.send(
      JSON.stringify({ type: 'error', id: first.id, code: 'unknown_session', message: 'No.' }),
    )
  }
  const first = connection.ask({ type: 'interrupt', session_id: 'a' })
  const second = connection.ask({ type: 'ping' })
  await expect(first).rejects.toThrowError(
    new RefusedError({ code: 'unknown_session', message: 'No.' }),
  )
  expect((await second).session_id).toBe('second')
})

test('fails what it cannot send or hears no answer to', async () => {
  const early = connection.ask({ type: 'ping' })
  await expect(early).rejects.toThrowError(new UnansweredError('offline'))
  await connected()
  const ignored = connection.ask({ type: 'ping' }, 1)
  await expect(ignored).rejects.toThrowError(new UnansweredError('timeout'))
  const cut = connection.ask({ type: 'ping' })
  peer.sockets[0]?.terminate()
  await expect(cut).rejects.toThrowError(new UnansweredError('lost'))
})

test('comes back by itself after the connection breaks', async () => {
  await connected()
  peer.sockets[0]?.terminate()
  await until(() => statuses.filter((status) => status === 'connected').length === 2)
  expect(statuses).toEqual(['connecting', 'connected', 'offline', 'connecting', 'connected'])
  expect(received.map(({ type }) => type)).toEqual(['welcome', 'welcome'])
})

test('asks why it was refused and stops when a token is missing', async () => {
  peer.greets = false
  access = 'unauthorized'
  connection.connect()
  await until(() => statuses.at(-1) === 'unauthorized')
  expect(statuses).toEqual(['connecting', 'offline', 'unauthorized'])
  peer.greets = true
  await connected()
})

test('frames that are not messages are left alone', async () => {
  const noted = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  await connected()
  for (const frame of ['not json', '42', '{}']) peer.sockets[0]?.send(frame)
  peer.sockets[0]?.send(JSON.stringify({ type: 'session_removed', session_id: 'x' }))
  await until(() => received.length === 2)
  expect(received.map(({ type }) => type)).toEqual(['welcome', 'session_removed'])
  expect(noted).toHaveBeenCalledTimes(1)
})

test('a device that is shut out does not try again', async () => {
  connection.connect()
  await until(() => statuses.includes('connected'))
  peer.sockets[0]?.close(4401, 'revoked')
  await until(() => statuses.at(-1) === 'unauthorized')
  // Longer than the first delay of one that tries again.
  await new Promise((done) => setTimeout(done, backoffDelay(0, 1) + 200))
  expect(peer.sockets).toHaveLength(1)
  expect(statuses).toEqual(['connecting', 'connected', 'unauthorized'])
})

test('a device that may do other things connects again at once', async () => {
  connection.connect()
  await until(() => statuses.includes('connected'))
  peer.sockets[0]?.close(4100, 'changed')
  await until(() => statuses.length === 4)
  expect(statuses).toEqual(['connecting', 'connected', 'connecting', 'connected'])
})

test('a silent connection is given up after a ping without answer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  try {
    await connected()
    const pinged = new Promise<Frame>((resolve) => (peer.onFrame = resolve))
    vi.advanceTimersByTime(25_000)
    expect((await pinged).type).toBe('ping')
    vi.advanceTimersByTime(10_000)
    await until(() => statuses.at(-1) === 'offline')
    vi.advanceTimersByTime(250)
    await until(() => statuses.at(-1) === 'connected')
  } finally {
    vi.useRealTimers()
  }
})

test.each([
  [0, 0, 250],
  [0, 1, 500],
  [3, 1, 4000],
  [30, 1, 15_000],
  [30, 0, 7500],
])('attempt %i with random %d waits %i ms', (attempt, random, delay) => {
  expect(backoffDelay(attempt, random)).toBe(delay)
})
