import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, expect, test } from 'vitest'

import { useMessages } from '../../data/messages'
import { installBrowser } from '../../testing/browser'
import { makeAgent, makeRequest, makeSession, SESSION, startStores } from '../../testing/fixtures'
import SessionDock from './SessionDock.vue'

installBrowser()

let dock: VueWrapper

afterEach(() => {
  dock.unmount()
  document.body.replaceChildren()
})

async function show(): Promise<void> {
  const session = makeSession()
  startStores({ agents: [makeAgent()], sessions: [session], pending_requests: [makeRequest()] })
  const main = document.body.appendChild(document.createElement('main'))
  dock = mount(SessionDock, {
    props: { session, requestId: null },
    global: { stubs: { RequestQueue: true } },
    attachTo: main,
  })
  await flushPromises()
}

const isCollapsed = () => dock.find('.writing').classes().includes('collapsed')

test('a draft that was added to from elsewhere is seen beside the request that waits', async () => {
  await show()
  expect(isCollapsed()).toBe(true)
  const messages = useMessages()
  messages.write(SESSION, 'From a web page')
  await flushPromises()
  expect(isCollapsed()).toBe(true)
  messages.revealed = SESSION
  await flushPromises()
  expect([isCollapsed(), messages.revealed]).toEqual([false, null])
  const field = dock.find<HTMLTextAreaElement>('[data-testid="composer-input"]')
  expect(field.element.value).toBe('From a web page')
})
