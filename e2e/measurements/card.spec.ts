/** From the server's frame to the card on the screen: `cargo xtask measure`. */
import type { Page } from '@playwright/test'

import type { Socket } from '../fixtures/socket.ts'
import { expect, test } from '../fixtures/test.ts'

const ROUNDS = 120
/** Requests of other sessions that stay open all the while. */
const OTHERS = 5

test.use({
  command: 'demo',
  viewport: { width: 1440, height: 900 },
  // A long log would be measured, too.
  environment: { SAYSO_LOG: 'warn' },
})

const COMMAND = 'npm ci && npm test -- --run login | tee test.log'

function asks(count: number): string {
  const input = { command: COMMAND, description: 'Install and test' }
  const step = { tool: { name: 'Bash', input, result: 'ok' } }
  return JSON.stringify({ steps: Array.from({ length: count }, () => step) })
}

async function start(socket: Socket, cwd: string, prompt?: string): Promise<string> {
  const ack = await socket.request({
    type: 'start_session',
    cwd,
    agent: 'demo',
    ...(prompt && { prompt }),
  })
  if (ack.type !== 'ack' || ack.session_id === undefined) throw new Error(JSON.stringify(ack))
  return ack.session_id
}

interface Noted {
  /** When the frame with this text arrived, and when what it leads to was drawn. */
  frames: Record<string, number>
  drawn: Record<string, number>
}

/** Notes, from before the page's own code, when frames arrive and when elements are drawn. */
async function watch(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const noted: Noted = { frames: {}, drawn: {} }
    Object.assign(window, { noted })
    class Watched extends WebSocket {
      constructor(...given: ConstructorParameters<typeof WebSocket>) {
        super(...given)
        this.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
          const id = /^\{"type":"request_opened".*?"request_id":"([^"]+)"/.exec(String(data))?.[1]
          if (id !== undefined) noted.frames[id] = performance.now()
        })
      }
    }
    window.WebSocket = Watched
    const look = (): void => {
      for (const card of document.querySelectorAll<HTMLElement>('[data-request-id]')) {
        const id = card.dataset['requestId'] ?? ''
        if (card.dataset['testid'] !== 'request-card' || id in noted.drawn) continue
        noted.drawn[id] = Infinity
        // After the next frame was handed over to be drawn.
        requestAnimationFrame(() => {
          const channel = new MessageChannel()
          channel.port1.onmessage = () => (noted.drawn[id] = performance.now())
          channel.port2.postMessage(null)
        })
      }
    }
    new MutationObserver(look).observe(document, { childList: true, subtree: true })
  })
}

async function delays(page: Page): Promise<number[]> {
  return page.evaluate(() => {
    const { frames, drawn } = (window as unknown as { noted: Noted }).noted
    return Object.entries(frames)
      .filter(([id]) => Number.isFinite(drawn[id] ?? Infinity))
      .map(([id, at]) => (drawn[id] ?? 0) - at)
  })
}

/** The same with the least that a page can do: one element per message. */
async function plainDelays(page: Page): Promise<number[]> {
  await page.goto('about:blank')
  return page.evaluate(async (rounds) => {
    const found: number[] = []
    for (let round = 0; round < rounds; round++) {
      const { port1, port2 } = new MessageChannel()
      await new Promise<void>((resolve) => {
        port1.onmessage = () => {
          const at = performance.now()
          const card = document.body.appendChild(document.createElement('div'))
          card.textContent = `Card ${round}`
          requestAnimationFrame(() => {
            const channel = new MessageChannel()
            channel.port1.onmessage = () => {
              found.push(performance.now() - at)
              card.remove()
              resolve()
            }
            channel.port2.postMessage(null)
          })
        }
        setTimeout(() => port2.postMessage(null), 100)
      })
    }
    return found
  }, ROUNDS)
}

function line(name: string, values: number[]): string {
  const sorted = [...values].sort((one, other) => one - other)
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN).toFixed(1)
  return `${name}: median ${at(0.5)} ms, 99th percentile ${at(0.99)} ms, longest ${at(1)} ms, ${values.length} times`
}

test('a card appears', async ({ page, server, socket, folders }) => {
  const plain = await plainDelays(page)
  for (let other = 0; other < OTHERS; other++) {
    await start(socket, folders.project, asks(1))
  }
  const session = await start(socket, folders.project)
  await watch(page)
  await page.goto(server.url)
  await page.goto(`${server.origin}/sessions/${session}`)
  await expect(page.getByTestId('composer-input')).toBeVisible()
  const content = [{ type: 'text' as const, text: asks(ROUNDS) }]
  await socket.request({ type: 'send_message', session_id: session, content })

  const answered = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const { pending_request: request } = await socket.next(
      'request_opened',
      ({ pending_request }) =>
        pending_request.session_id === session && !answered.has(pending_request.request_id),
    )
    answered.add(request.request_id)
    // Looking for the card from outside would keep the page busy while it is measured.
    await new Promise((resolve) => setTimeout(resolve, 250))
    const { request_id, input_digest } = request
    const decision = { behavior: 'deny' as const }
    await socket.request({ type: 'respond', request_id, input_digest, decision })
  }
  const shown = await delays(page)
  expect(shown.length).toBeGreaterThan(ROUNDS * 0.9)
  console.log(line('card', shown))
  console.log(line('plain page', plain))
})
