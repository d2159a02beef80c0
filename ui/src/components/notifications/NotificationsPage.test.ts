import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { receive } from '../../data/receive'
import type { Channel, Notifications, Scope } from '../../protocol.gen'
import { installBrowser } from '../../testing/browser'
import { DEVICE, makeWelcome, startStores } from '../../testing/fixtures'
import NotificationsPage from './NotificationsPage.vue'

const CHANNEL: Channel = {
  channel_id: '00000000-0000-4000-8000-0000000000f1',
  kind: 'ntfy',
  name: 'My phone',
  host: 'ntfy.sh',
  settings: {
    enabled: true,
    kinds: ['tool'],
    detail: false,
    deny_button: true,
    allow_button: false,
    after_seconds: 0,
    remind_seconds: 0,
    only_when_away: false,
    quiet_hours: null,
  },
  created_at: '2026-01-02T03:04:05Z',
}
const OWN: Channel = {
  ...CHANNEL,
  channel_id: '00000000-0000-4000-8000-0000000000f2',
  kind: 'web_push',
  name: 'Chrome on Linux',
  device_id: DEVICE,
}

let page: VueWrapper
const sent: { method: string; path: string; body: unknown }[] = []
const part = (id: string) => page.find(`[data-testid="${id}"]`)

beforeEach(() => {
  installBrowser()
  startStores()
  sent.length = 0
  vi.stubGlobal('isSecureContext', false)
})
afterEach(() => {
  page.unmount()
  vi.unstubAllGlobals()
})

async function show(listed: Partial<Notifications>, scopes: Scope[] = ['view', 'admin']) {
  const answer: Notifications = { channels: [], public_key: 'key', contact_set: true, ...listed }
  vi.stubGlobal('fetch', (path: string, { method = 'GET', body = '' }: RequestInit = {}) => {
    if (method === 'GET') return Promise.resolve(Response.json(answer))
    sent.push({ method, path, body: JSON.parse(String(body)) })
    return Promise.resolve(Response.json(path.endsWith('push') ? OWN : { channel: CHANNEL }))
  })
  const welcome = makeWelcome()
  receive({ ...welcome, me: { ...welcome.me, scopes } })
  page = mount(NotificationsPage, {
    global: { stubs: { RouterLink: { template: '<a><slot /></a>' } } },
  })
  await flushPromises()
}

test('says why push messages are not possible, and what to do', async () => {
  await show({})
  expect(part('push').attributes('data-state')).toBe('insecure')
  expect(part('push-words').text()).toContain('Open Sayso there')
  expect(part('push-on').exists()).toBe(false)
})

test('a device that does not administer sees its own channel only, and cannot let it allow', async () => {
  await show({ channels: [OWN] }, ['view'])
  expect(page.findAll('[data-testid="channel"]')).toHaveLength(1)
  expect(part('channels-barred').exists()).toBe(true)
  expect(part('channel-new').exists()).toBe(false)
  await part('channel-edit').trigger('click')
  expect(part('channel-allow').attributes('disabled')).toBeDefined()
  await part('channel-deny').trigger('click')
  await part('channel-settings').trigger('submit')
  await flushPromises()
  const settings = { ...OWN.settings, deny_button: false }
  expect(sent).toEqual([{ method: 'PUT', path: '/api/notifications/push', body: { settings } }])
})

test('nothing is changed before it is saved, and a warning comes before what weighs most', async () => {
  await show({ channels: [CHANNEL] })
  await part('channel-edit').trigger('click')
  expect(part('allow-warning').exists()).toBe(false)
  await part('channel-allow').trigger('click')
  expect(part('allow-warning').text()).toContain('Whoever reads this channel')
  await part('channel-discard').trigger('click')
  expect(sent).toEqual([])
})

test('hints at the contact that is missing, where push messages are in use', async () => {
  await show({ channels: [OWN], contact_set: false })
  expect(part('contact-hint').text()).toContain('sayso.toml')
})

test('a server that does not answer is said, with a way to try again', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new Error('Failed to fetch')))
  receive(makeWelcome())
  page = mount(NotificationsPage, { global: { stubs: { RouterLink: true } } })
  await flushPromises()
  expect(part('notifications-problem').text()).toContain('Try again')
})
