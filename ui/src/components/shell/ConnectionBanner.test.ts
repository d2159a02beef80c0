import { mount } from '@vue/test-utils'
import { afterEach, expect, test, vi } from 'vitest'
import { nextTick } from 'vue'

import { useServer } from '../../data/server'
import { startStores } from '../../testing/fixtures'
import ConnectionBanner from './ConnectionBanner.vue'

afterEach(() => vi.useRealTimers())

test('counts down to the next attempt, and tries at once when asked to', async () => {
  vi.useFakeTimers()
  const connection = startStores()
  const connect = vi.spyOn(connection, 'connect')
  const server = useServer()
  const banner = mount(ConnectionBanner)
  expect(banner.attributes('data-status')).toBe('connected')

  server.status = 'offline'
  server.retryAt = Date.now() + 4000
  await vi.advanceTimersByTimeAsync(1000)
  expect(banner.text()).toContain('Reconnecting…')
  expect(banner.find('[data-testid="retry-countdown"]').text()).toBe('next try in 3 s')
  await banner.find('[data-testid="retry-now"]').trigger('click')
  expect(connect).toHaveBeenCalledOnce()

  server.status = 'connecting'
  await nextTick()
  expect(banner.find('button').exists()).toBe(false)
  expect(banner.text()).toBe('Reconnecting…')
})
