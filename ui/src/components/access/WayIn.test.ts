import { mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'

import type { WayIn } from '../../data/pairing'
import { useServer } from '../../data/server'
import { takeWanted } from '../../data/wanted'
import { startStores } from '../../testing/fixtures'
import NotLetIn from './NotLetIn.vue'
import WayInPage from './WayInPage.vue'

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-01-02T04:00:00Z') })
  startStores()
})
afterEach(() => vi.useRealTimers())

const show = (way: WayIn, fingerprint: string | null = null) =>
  mount(WayInPage, { props: { way, fingerprint } })

test('who waits sees the code in groups of three, where to confirm it and how long it counts', () => {
  const page = show({ kind: 'waiting', code: '123456', expiresAt: '2026-01-02T04:01:30Z' })
  const groups = page.findAll('[data-testid="pairing-code"] [aria-hidden="true"]')
  expect(groups.map((group) => group.text())).toEqual(['123', '456'])
  expect(page.get('h1').text()).toBe('Confirm it on a device that is already paired')
  expect(page.get('[data-testid="way-in-left"]').text()).toBe('1:30 left')
})

test.each(['refused', 'over', 'unknown'] as const)('%s: it says how to get a new link', (kind) => {
  const text = show({ kind }).text()
  expect(text).toContain('sayso pair')
  expect(text).toContain('Pair a phone')
})

test('a fingerprint is shown in short groups', () => {
  const page = show({ kind: 'asking' }, 'SHA256:AB:CD:EF:01:23')
  const groups = page.findAll('[data-testid="fingerprint"] code')
  expect(groups.map((group) => group.text())).toEqual(['ABCD', 'EF01', '23'])
})

async function showOutside(path: string) {
  const component = { template: '<i />' }
  const routes = [{ path: '/:rest(.*)*', component }]
  const router = createRouter({ history: createMemoryHistory(), routes })
  await router.push(path)
  return mount(NotLetIn, { global: { plugins: [router] } })
}

test.each([
  ['/sessions/a?request=b', true],
  ['/', false],
  ['/sessions/a?token=secret', false],
])('who is out and wanted %s', async (path, goesOn) => {
  const page = await showOutside(path)
  expect(page.text().includes('Then it goes on to the page that you wanted.')).toBe(goesOn)
  expect(takeWanted(Date.now())).toBe(goesOn ? path : null)
})

test('who was in is told that they are out, and stays out until the server lets them in', async () => {
  const server = useServer()
  server.status = 'unauthorized'
  expect((await showOutside('/')).get('h1').text()).toBe('This browser is no longer let in')
  server.status = 'connecting'
  expect(server.barred).toBe(true)
  server.status = 'connected'
  expect(server.barred).toBe(false)
})
