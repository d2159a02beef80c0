/** How a transcript of 10,000 entries opens, scrolls and streams: `cargo xtask measure`. */
import type { Page } from '@playwright/test'

import type { Socket } from '../fixtures/socket.ts'
import { expect, test } from '../fixtures/test.ts'

const ENTRIES = 10_000
const ROUNDS = 5
const SECONDS = 5
/** Milliseconds between two pieces of streamed text. */
const CHUNK_DELAY = 12

test.use({
  command: 'demo',
  viewport: { width: 1440, height: 900 },
  // A long log would be measured, too.
  environment: { SAYSO_LOG: 'warn' },
})

interface Frames {
  fps: number
  /** Scripts, styles and layout: percent of the time. */
  busy: number
}

/** Texts, code and tool calls, mixed as in a long day of work. */
function steps(): object[] {
  const call = (number: number) => ({
    tool: {
      name: 'Grep',
      input: { pattern: `word${number}`, path: 'src' },
      ask: false,
      result: `src/file${number}.ts:${number}: const word${number} = ${number}`,
    },
  })
  const text = (number: number) => ({
    say: `Step ${number}. I looked at **file ${number}** and it does what its name says.\n\n- one\n- two\n\n\`\`\`ts\nconst answer = ${number}\n\`\`\``,
  })
  // A call is two entries, the text a third; the message and the turn's end are the last two.
  const groups = Math.ceil((ENTRIES - 2) / 3)
  return Array.from({ length: groups }, (_, number) => [text(number), call(number)]).flat()
}

async function makeLongSession(socket: Socket, cwd: string): Promise<string> {
  const prompt = JSON.stringify({ steps: steps() })
  const ack = await socket.request({ type: 'start_session', cwd, agent: 'demo', prompt })
  if (ack.type !== 'ack' || ack.session_id === undefined) throw new Error(JSON.stringify(ack))
  const id = ack.session_id
  await socket.request({ type: 'rename_session', session_id: id, title: 'A long day' })
  const ended = ({
    session,
  }: {
    session: { session_id: string; state: string; last_seq: number }
  }) =>
    session.session_id === id && session.state === 'user_turn' && session.last_seq >= ENTRIES - 1
  await socket.next('session_state', ended, 300_000)
  return id
}

/** Frames that the page drew while `work` ran, and how busy its one script thread was. */
async function during(page: Page, work: () => Promise<void>): Promise<Frames> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const busy = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics')
    const names = ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration']
    return metrics
      .filter(({ name }) => names.includes(name))
      .reduce((sum, { value }) => sum + value, 0)
  }
  await page.evaluate(() => {
    const times: number[] = []
    Object.assign(window, { frameTimes: times })
    const note = (time: number): void => {
      times.push(time)
      requestAnimationFrame(note)
    }
    requestAnimationFrame(note)
  })
  const before = await busy()
  await work()
  const worked = (await busy()) - before
  const times = await page.evaluate(
    () => (window as unknown as { frameTimes: number[] }).frameTimes,
  )
  const span = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000
  await session.detach()
  return { fps: round((times.length - 1) / span), busy: round((100 * worked) / span) }
}

async function wheelUp(page: Page): Promise<void> {
  const until = Date.now() + SECONDS * 1000
  while (Date.now() < until) await page.mouse.wheel(0, -400)
}

/**
 * The same on a page without any script: text in a box that scrolls and grows. What a machine without
 * a graphics card cannot draw faster, nobody can.
 */
async function plainPage(page: Page): Promise<{ scrolling: Frames; streaming: Frames }> {
  const line = (number: number): string =>
    `<p>Step ${number}. I looked at <b>file ${number}</b> and it does what its name says.</p><pre>const answer = ${number}</pre>`
  const lines = Array.from({ length: 3000 }, (_, number) => line(number)).join('')
  await page.setContent(
    `<body style="margin:0;display:flex;height:100vh"><div style="width:280px"></div><div id="box" style="flex:1;overflow-y:auto"><div style="max-width:820px;margin:auto">${lines}</div></div>`,
  )
  await page.mouse.move(800, 400)
  await page.evaluate(() => document.getElementById('box')?.scrollTo(0, 100_000))
  const scrolling = await during(page, () => wheelUp(page))
  const streaming = await during(page, async () => {
    await page.evaluate((delay) => {
      const box = document.getElementById('box')
      const text = document.createElement('p')
      box?.firstElementChild?.append(text)
      let words = 0
      const timer = setInterval(() => {
        text.append(` word${words}`)
        box?.scrollTo(0, box.scrollHeight)
        if (++words === 330) clearInterval(timer)
      }, delay)
    }, CHUNK_DELAY)
    await page.waitForTimeout(4000)
  })
  return { scrolling, streaming }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}

test('a transcript of ten thousand entries', async ({ app, socket, folders }) => {
  const { page } = app
  const session = await makeLongSession(socket, folders.project)
  const lastEntry = page.locator('[data-testid="entry"][data-kind="turn_ended"]').last()

  const cold: number[] = []
  const warm: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    await app.visit('/settings')
    let began = Date.now()
    await app.visit(`/sessions/${session}`)
    await expect(lastEntry).toBeVisible()
    cold.push(Date.now() - began)
    await app.visit('/sessions')
    const item = page.getByTestId('session-item').first()
    await expect(item).toBeVisible()
    began = Date.now()
    await item.click()
    await expect(lastEntry).toBeVisible()
    warm.push(Date.now() - began)
  }

  const box = await page.getByTestId('transcript').boundingBox()
  if (!box) throw new Error('The transcript has no place on the page.')
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  const scrolling = await during(page, () => wheelUp(page))
  const first = page.locator('[data-testid="entry"]').first()
  const reached = Number(await first.getAttribute('data-seq'))

  await page.getByTestId('to-end').click()
  const chunks = Array.from({ length: 400 }, (_, number) => `word${number} **bold** \`code\`, `)
  const stream = { chunks, delay_ms: CHUNK_DELAY }
  await app.send(JSON.stringify({ steps: [{ stream }] }))
  await expect(page.getByTestId('live-text')).toBeVisible()
  const streaming = await during(page, () => page.waitForTimeout(4000))
  const plain = await plainPage(await page.context().newPage())

  const opening = { byAddress: median(cold), fromList: median(warm) }
  console.log(JSON.stringify({ entries: ENTRIES, opening, reached, scrolling, streaming, plain }))
  expect(reached).toBeLessThan(ENTRIES)
})
