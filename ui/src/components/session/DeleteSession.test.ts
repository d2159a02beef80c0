import { flushPromises, mount } from '@vue/test-utils'
import { beforeEach, expect, test } from 'vitest'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'

import { installBrowser } from '../../testing/browser'
import { makeSession, SESSION, startStores, type TestServer } from '../../testing/fixtures'
import { useSessionActions } from './actions'
import DeleteSession from './DeleteSession.vue'

installBrowser()
let server: TestServer
let router: Router

beforeEach(async () => {
  server = startStores()
  const page = { template: '<i />' }
  router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/', name: 'inbox', component: page },
      { path: '/sessions/:sessionId', name: 'session', component: page },
    ],
  })
  await router.push(`/sessions/${SESSION}`)
})

function show() {
  const session = makeSession({ last_seq: 1234 })
  useSessionActions().deleting = session
  return mount(DeleteSession, { props: { session }, global: { plugins: [router] } })
}

test('names the session and what is lost', () => {
  const text = show().text()
  for (const part of ['fix login', '1,234 entries', 'still running', '/srv/api']) {
    expect(text).toContain(part)
  }
})

test('keeping it sends nothing', async () => {
  await show().find('[data-testid="delete-cancel"]').trigger('click')
  expect(server.asked).toEqual([])
  expect(useSessionActions().deleting).toBeNull()
})

test('deleting the open session leads to the inbox', async () => {
  await show().find('form').trigger('submit')
  await flushPromises()
  expect(server.asked).toEqual([{ type: 'remove_session', session_id: SESSION }])
  expect(router.currentRoute.value.name).toBe('inbox')
})
