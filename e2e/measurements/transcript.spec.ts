/** How a transcript of 10,000 entries opens, scrolls and streams: `cargo xtask measure`. */
import type { Page } from '@playwright/test'

import type { Socket } from '../fixtures/socket.ts'
import { expect, test } from '../fixtures/test.ts'

const ENTRIES = 10_000
const ROUNDS = 5
const SECONDS = 5

test.use({ command: 'demo', viewport: { width: 1440, height: 900 } })

interface Frames {
  fps: number
  /** The longest gap between two frames, in milliseconds. */
  longest: number
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

/** Frames that the page drew while `work` ran. */
async function framesDuring(page: Page, work: () => Promise<void>): Promise<Frames> {
  await page.evaluate(() => {
    const times: number[] = []
    Object.assign(window, { frameTimes: times })
    const note = (time: number): void => {
      times.push(time)
      requestAnimationFrame(note)
    }
    requestAnimationFrame(note)
  })
  await work()
  const times = await page.evaluate(
    () => (window as unknown as { frameTimes: number[] }).frameTimes,
  )
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time))
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0)
  return { fps: (gaps.length / span) * 1000, longest: Math.max(...gaps) }
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
  const scrolling = await framesDuring(page, async () => {
    const until = Date.now() + SECONDS * 1000
    while (Date.now() < until) await page.mouse.wheel(0, -400)
  })
  const reached = Number(
    await page.locator('[data-testid="entry"]').first().getAttribute('data-seq'),
  )

  await page.getByTestId('to-end').click()
  const chunks = Array.from({ length: 400 }, (_, number) => `word${number} **bold** \`code\`, `)
  const script = JSON.stringify({ steps: [{ stream: { chunks, delay_ms: 12 } }] })
  await app.send(script)
  await expect(page.getByTestId('live-text')).toBeVisible()
  const streaming = await framesDuring(page, async () => {
    await page.waitForTimeout(4000)
  })

  const figures = {
    entries: ENTRIES,
    'open by address, median ms': median(cold),
    'open from the list, median ms': median(warm),
    'scrolling, frames/s': Math.round(scrolling.fps * 10) / 10,
    'scrolling, longest frame ms': Math.round(scrolling.longest),
    'scrolled up to entry': reached,
    'streaming, frames/s': Math.round(streaming.fps * 10) / 10,
    'streaming, longest frame ms': Math.round(streaming.longest),
  }
  console.log(JSON.stringify(figures, null, 2))
  expect(reached).toBeLessThan(ENTRIES - 300)
})
