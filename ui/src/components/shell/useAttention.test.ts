import { mount } from '@vue/test-utils'
import { expect, test, vi } from 'vitest'
import { nextTick } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'

import { useRequests } from '../../data/requests'
import { useSessions } from '../../data/sessions'
import { makeAlert, makeRequest, makeSession, startStores } from '../../testing/fixtures'
import { useAttention } from './useAttention'

test('title, icon and badge show how many requests wait', async () => {
  vi.useFakeTimers()
  startStores()
  const icon = document.head.appendChild(document.createElement('link'))
  icon.rel = 'icon'
  const badge = vi.fn(() => Promise.resolve())
  Object.assign(navigator, { setAppBadge: badge })
  const component = { template: '<i />', setup: () => void useAttention() }
  const routes = [{ path: '/', component, meta: { title: 'Inbox' } }]
  const router = createRouter({ history: createMemoryHistory(), routes })
  await router.push('/')
  mount(component, { global: { plugins: [router] } })

  const seen = []
  for (const count of [0, 3, 12, 0]) {
    const requests = Array.from({ length: count }, (_, index) =>
      makeRequest({ request_id: `r${index}` }),
    )
    useRequests().replaceAll(requests)
    await nextTick()
    vi.advanceTimersByTime(500)
    const number = />([^<>]+)<\/text>/.exec(decodeURIComponent(icon.href))?.[1]
    seen.push([document.title, number ?? new URL(icon.href).pathname])
  }
  expect(seen).toEqual([
    ['Inbox · Sayso', '/favicon.svg'],
    ['(3) Inbox · Sayso', '3'],
    ['(12) Inbox · Sayso', '9+'],
    ['Inbox · Sayso', '/favicon.svg'],
  ])
  expect(badge.mock.calls).toEqual([[0], [3], [12], [0]])

  useSessions().put(makeSession({ alert: makeAlert() }))
  await nextTick()
  expect(document.title).toBe('⚠ Inbox · Sayso')
  useSessions().put(makeSession())
  await nextTick()
  expect(document.title).toBe('Inbox · Sayso')
  vi.useRealTimers()
})
