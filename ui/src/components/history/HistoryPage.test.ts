import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RouterView, type Router } from 'vue-router'

import type { HistoryEntry, Session } from '../../protocol.gen'
import { createAppRouter } from '../../router'
import { installBrowser } from '../../testing/browser'
import { makeSession, SESSION, startStores } from '../../testing/fixtures'
import { answerHistory, makeHistoryEntry, makeRecord } from '../../testing/history'
import type { HistoryAnswers } from '../../testing/history'

installBrowser()

// The menus measure themselves, which takes its time in jsdom.
vi.setConfig({ testTimeout: 20_000 })

const NOW = Date.parse('2026-01-02T04:00:00Z')
let router: Router
let page: VueWrapper

beforeEach(() => vi.useFakeTimers({ now: NOW }))
afterEach(() => {
  page.unmount()
  vi.useRealTimers()
  vi.stubGlobal('matchMedia', undefined)
})

async function settle(): Promise<void> {
  await vi.dynamicImportSettled()
  await vi.advanceTimersByTimeAsync(300)
  await flushPromises()
}

async function show(
  entries: Partial<HistoryEntry>[] | undefined,
  { at = '/history', sessions = [makeSession()], ...answers }: ShowOptions = {},
): Promise<string[]> {
  const all = entries?.map((part, index) =>
    makeHistoryEntry({ seq: entries.length - index, ...part }),
  )
  const asked = answerHistory({ ...(all ? { entries: all } : {}), ...answers })
  startStores({ sessions })
  router = createAppRouter()
  void router.push(at)
  await router.isReady()
  page = mount(RouterView, { global: { plugins: [router] }, attachTo: document.body })
  await settle()
  return asked
}

type ShowOptions = HistoryAnswers & { at?: string; sessions?: Session[] }

const part = (id: string) => page.find<HTMLInputElement>(`[data-testid="${id}"]`)
const rows = () => page.findAll('[data-testid="history-row"]')
const seqs = () => rows().map((row) => row.attributes('data-seq'))
const words = (id: string) => part(id).text().replace(/\s+/g, ' ')
const here = () => router.currentRoute.value.fullPath
const pathOf = (asked: string | undefined) => new URL(asked ?? '', 'http://sayso.test')
const lastAsked = (asked: string[]) => Object.fromEntries(pathOf(asked.at(-1)).searchParams)

async function press(key: string): Promise<boolean> {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
  const taken = !(document.activeElement ?? document.body).dispatchEvent(event)
  await settle()
  return taken
}

const focusedRow = () =>
  document.activeElement?.closest<HTMLElement>('[data-testid="history-row"]')?.dataset.seq

function narrowScreen(): void {
  const listener = { addEventListener: () => {}, removeEventListener: () => {} }
  vi.stubGlobal('matchMedia', (query: string) => ({
    matches: query.includes('max-width'),
    ...listener,
  }))
}

test('a row says what, how it ended, by whom, when and where', async () => {
  const asked = await show([{ text: 'npm test\u202e\nrm -rf ~' }])
  expect(asked).toEqual(['/api/history?limit=50'])
  const [row] = rows()
  expect(['data-seq', 'data-outcome', 'data-kind'].map((name) => row?.attributes(name))).toEqual([
    '1',
    'allowed',
    'decision',
  ])
  const text = row?.text().replace(/\s+/g, ' ')
  expect(text).toContain('Allowed')
  expect(text).toContain('Bash')
  expect(text).toContain('npm test⟨U+202E⟩')
  expect(text).not.toContain('rm -rf')
  expect(text).toContain('+1 line')
  expect(text).toContain('3 min ago')
  expect(text).toContain('You on Pixel 8')
  expect(text).toContain('api')
  expect(part('history-session').attributes('href')).toBe(`/sessions/${SESSION}`)
  expect(part('history-session').text()).toBe('fix login')
})

test('text from an agent is only text', async () => {
  await show([{ text: '<img src=x onerror=alert(1)>', tool_name: '<b>x</b>' }])
  expect([rows()[0]?.find('img').exists(), rows()[0]?.find('b').exists()]).toEqual([false, false])
})

test('a session that is gone has no link', async () => {
  await show([{}], { sessions: [] })
  expect(part('history-session').exists()).toBe(false)
  expect(rows()[0]?.text()).toContain('deleted session')
})

test('entries stand below their days', async () => {
  await show([{ at: new Date(NOW).toISOString() }, { at: new Date(NOW - 864e5).toISOString() }])
  expect(page.findAll('h2').map((day) => day.text())).toEqual(['Today', 'Yesterday'])
})

test('older entries come when asked for', async () => {
  const asked = await show([{}, {}, {}], { page: 2 })
  expect(seqs()).toEqual(['3', '2'])
  await part('history-more').trigger('click')
  await settle()
  expect(asked.at(-1)).toBe('/api/history?before=2&limit=50')
  expect([seqs(), part('history-more').exists()]).toEqual([['3', '2', '1'], false])
})

test('an empty history teaches; an empty filter says what to do', async () => {
  await show([])
  expect(words('history-empty')).toContain('Every decision is written down here')
  await part('history-filter-tool').setValue('Edit')
  await settle()
  expect(words('history-empty')).toContain('Nothing fits these filters.')
  await part('history-empty-clear').trigger('click')
  await settle()
  expect(here()).toBe('/history')
})

test('until they come there is a place for them, and a failure can be tried again', async () => {
  const asked = await show(undefined)
  expect(words('history-error')).toContain('There is nothing at this address.')
  answerHistory({ entries: [makeHistoryEntry()] })
  await part('history-retry').trigger('click')
  expect(part('history-loading').exists()).toBe(true)
  await settle()
  expect([asked.length, rows().length, part('history-error').exists()]).toEqual([1, 1, false])
})

test('filters go to the server and into the address, and the way back leads through them', async () => {
  const asked = await show([{}])
  await part('history-filter-outcome').setValue('denied')
  await settle()
  await part('history-filter-session').setValue(SESSION)
  await settle()
  expect(here()).toBe(`/history?session=${SESSION}&outcome=denied`)
  expect(lastAsked(asked)).toEqual({ session_id: SESSION, outcome: 'denied', limit: '50' })
  router.back()
  await settle()
  expect(here()).toBe('/history?outcome=denied')
  expect(lastAsked(asked)).toEqual({ outcome: 'denied', limit: '50' })
  expect(part('history-filter-session').element.value).toBe('')
  await part('history-filter-clear').trigger('click')
  await settle()
  expect([here(), asked.at(-1)]).toEqual(['/history', '/api/history?limit=50'])
})

test('a link with filters shows them, also those that no list has', async () => {
  const asked = await show([{}], { at: '/history?tool=mcp__x__y&by=rule&session=gone' })
  expect(lastAsked(asked)).toEqual({
    ...{ tool: 'mcp__x__y', by: 'rule', session_id: 'gone', limit: '50' },
  })
  const chosen = ['tool', 'by', 'session'].map((field) =>
    part(`history-filter-${field}`).find('option:checked').text(),
  )
  expect(chosen).toEqual(['mcp__x__y', 'A rule', 'A session that is gone'])
})

test('tools and folders that were met can be chosen', async () => {
  await show([{ tool_name: 'mcp__git__push', project: '/srv/old' }])
  const options = (field: string) =>
    part(`history-filter-${field}`)
      .findAll('option')
      .map((option) => option.attributes('value'))
  expect(options('tool')).toContain('mcp__git__push')
  expect(options('project')).toEqual(['', '/srv/api', '/srv/old'])
})

test('an own range has two days', async () => {
  const asked = await show([{}])
  expect(part('history-filter-from').exists()).toBe(false)
  await part('history-filter-time').setValue('range')
  await settle()
  await part('history-filter-from').setValue('2026-01-01')
  await settle()
  expect(here()).toBe('/history?time=range&from=2026-01-01')
  expect(lastAsked(asked).since).toBe(new Date(2026, 0, 1).toISOString())
})

test('a search waits for the last letter and is one step back', async () => {
  const asked = await show([{}])
  const field = part('history-filter-search')
  for (const text of ['n', 'np', 'npm']) await field.setValue(text)
  expect(asked).toHaveLength(1)
  await settle()
  await field.setValue('npm t')
  await settle()
  expect(asked.slice(1).map((one) => pathOf(one).searchParams.get('search'))).toEqual([
    'npm',
    'npm t',
  ])
  router.back()
  await settle()
  expect([here(), field.element.value]).toEqual(['/history', ''])
})

test('on a phone the filters wait behind one button that counts them', async () => {
  narrowScreen()
  await show([{}], { at: '/history?tool=Bash&by=rule' })
  expect(part('history-filter-tool').exists()).toBe(false)
  expect(words('history-filter-toggle')).toBe('Filters 2')
  await part('history-filter-toggle').trigger('click')
  expect(part('history-filter-tool').element.value).toBe('Bash')
})

const DETAILS = {
  1: { entry: makeHistoryEntry({ seq: 1 }), record: makeRecord(), related: [] },
  2: { entry: makeHistoryEntry({ seq: 2 }), record: makeRecord(), related: [] },
}

test('keys move through the rows, and Enter goes into one', async () => {
  await show([{}, {}], { details: DETAILS, at: '/history?tool=Bash' })
  await press('j')
  expect(focusedRow()).toBe('2')
  await press('ArrowDown')
  await press('j')
  expect([focusedRow(), here()]).toEqual(['1', '/history?tool=Bash'])
  expect(await press('Enter')).toBe(true)
  expect(here()).toBe('/history/1?tool=Bash')
  expect(document.activeElement?.contains(part('history-detail').element)).toBe(true)
  await press('k')
  expect([here(), part('history-detail').attributes('data-seq')]).toEqual([
    '/history/2?tool=Bash',
    '2',
  ])
  expect(focusedRow()).toBeUndefined()
  await press('Escape')
  expect([focusedRow(), here()]).toEqual(['2', '/history/2?tool=Bash'])
})

test('past the last row the keys bring older ones', async () => {
  await show([{}, {}], { page: 1 })
  await press('j')
  await press('j')
  expect([seqs(), focusedRow()]).toEqual([['2', '1'], '1'])
})

test('a slash goes to the search, and letters are text there', async () => {
  await show([{}])
  await press('/')
  expect(document.activeElement).toBe(part('history-filter-search').element)
  expect(await press('j')).toBe(false)
})

test('without rows the keys are left to others', async () => {
  await show([])
  expect([await press('j'), await press('Enter')]).toEqual([false, false])
})

test('on a phone an entry covers the list and leads back to it', async () => {
  narrowScreen()
  await show([{}, {}], { details: DETAILS })
  await rows()[0]?.find('a').trigger('click')
  await settle()
  expect(here()).toBe('/history/2')
  expect(part('history-back').attributes('href')).toBe('/history')
  expect(part('history-page').find('.main').attributes('inert')).toBeDefined()
  expect(rows()).toHaveLength(2)
  await press('Escape')
  expect([here(), focusedRow()]).toEqual(['/history', '2'])
})

/** The menus stand at the end of the document. */
const menuItem = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`)

async function openMenu(): Promise<void> {
  await part('history-export').trigger('click')
  await settle()
}

test('what is in view can be taken along', async () => {
  await show([{}], { at: '/history?tool=Bash&search=npm' })
  await openMenu()
  const links = ['jsonl', 'csv'].map((format) => menuItem(`history-export-${format}`))
  expect(links.map((link) => link?.getAttribute('href'))).toEqual([
    '/api/history/export?format=jsonl&tool=Bash&search=npm',
    '/api/history/export?format=csv&tool=Bash&search=npm',
  ])
  expect(links[0]?.getAttribute('download')).toBe('sayso-history.jsonl')
})

test.each([
  [{ good: true, entries: 1204 }, 'good', 'All 1,204 entries are as they were written'],
  [{ good: true, entries: 0 }, 'good', 'There is nothing to check yet'],
  [
    { good: false, entries: 9, problem: 'Entry 7 was changed.', first_bad: 7 },
    'bad',
    'The history is not as it was written. Entry 7 was changed. Show entry 7',
  ],
  [undefined, 'failed', 'The history could not be checked: There is nothing at this address.'],
])('a check says what it found: %j', async (found, state, expected) => {
  const check = found && { problem: null, first_bad: null, ...found }
  const asked = await show([{}], { check })
  expect(part('history-check-result').exists()).toBe(false)
  await openMenu()
  menuItem('history-check')?.click()
  await settle()
  expect(asked).toContain('/api/history/check')
  const result = part('history-check-result')
  expect([result.attributes('data-state'), words('history-check-result')]).toEqual([
    state,
    expected,
  ])
  if (state === 'bad') {
    expect(part('history-check-first').attributes('href')).toBe('/history/7')
  }
})
