import { flushPromises, mount } from '@vue/test-utils'
import { expect, test } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'

import { startStores } from '../../testing/fixtures'
import { KEY_HELP } from './keys'
import { useShortcuts } from './useShortcuts'

const NAMES = ['inbox', 'sessions', 'rules', 'history', 'devices', 'new-session', 'settings']

test.each([
  ['g i', 'inbox'],
  ['g s', 'sessions'],
  ['g r', 'rules'],
  ['g h', 'history'],
  ['g d', 'devices'],
  ['n', 'new-session'],
  [',', 'settings'],
])('%s leads to %s, and the help says so', async (keys, name) => {
  startStores()
  const routes = NAMES.map((one) => ({ path: `/${one}`, name: one, component: {} }))
  const history = createMemoryHistory()
  const router = createRouter({ history, routes: [{ path: '/', component: {} }, ...routes] })
  const app = mount(
    { setup: () => useShortcuts(() => undefined), render: () => null },
    { global: { plugins: [router] } },
  )
  for (const key of keys.split(' ')) {
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
  }
  await flushPromises()
  expect(router.currentRoute.value.name).toBe(name)
  const everywhere = KEY_HELP.find(({ title }) => title === 'Everywhere')
  expect(everywhere?.rows.map((row) => row.keys.join(' '))).toContain(keys)
  app.unmount()
})
