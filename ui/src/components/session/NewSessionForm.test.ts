import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { expect, test } from 'vitest'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'

import { RefusedError } from '../../connection/errors'
import type { AgentInfo, ErrorCode } from '../../protocol.gen'
import { makeAgent, SESSION, startStores, type TestServer } from '../../testing/fixtures'
import NewSessionForm from './NewSessionForm.vue'

let server: TestServer
let router: Router
let form: VueWrapper

function show(agents: AgentInfo[] = [makeAgent()]): void {
  server = startStores({ agents })
  server.answer = () => Promise.resolve({ session_id: SESSION, data: undefined })
  const page = { template: '<i />' }
  router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/', component: page },
      { path: '/sessions/:sessionId', name: 'session', component: page },
    ],
  })
  form = mount(NewSessionForm, { global: { plugins: [router] } })
}

const part = (name: string) => form.find<HTMLInputElement>(`[data-testid="new-session-${name}"]`)
const error = () => form.find('[data-testid="form-error"]')

async function start(): Promise<void> {
  await form.trigger('submit')
  await flushPromises()
}

test('begins with the defaults of the server and starts with what is filled in', async () => {
  show()
  await part('prompt').setValue('Fix the login')
  await part('model').setValue(' opus ')
  await start()
  expect(server.asked).toEqual([
    {
      type: 'start_session',
      cwd: '/srv/api',
      agent: 'claude',
      permission_mode: 'default',
      model: 'opus',
      prompt: 'Fix the login',
    },
  ])
  expect(router.currentRoute.value.path).toBe(`/sessions/${SESSION}`)
})

test('an agent that cannot run is disabled and says why', async () => {
  const problem = 'The program was not found.'
  const demo = makeAgent({ agent: 'demo', label: 'Demo agent' })
  show([makeAgent({ available: false, problem }), demo])
  await flushPromises()
  expect(part('agent').element.value).toBe('demo')
  expect(form.find<HTMLOptionElement>('option[value="claude"]').element.disabled).toBe(true)
  expect(form.text()).toContain(problem)
})

test('a dangerous mode is marked and never the first choice', async () => {
  const [safe, dangerous] = makeAgent().permission_modes
  show([makeAgent({ permission_modes: [dangerous!, safe!] })])
  await flushPromises()
  expect(part('mode').element.value).toBe('default')
  expect(form.find('option[value="bypassPermissions"]').text()).toBe('⚠ Bypass')
})

test.each([
  ['', 'Say in which folder the agent works.'],
  ['src/api', 'Give the whole path, from the root on.'],
])('the folder %j is refused before it is sent', async (cwd, text) => {
  show()
  await part('cwd').setValue(cwd)
  await start()
  expect(error().text()).toBe(text)
  expect(server.asked).toEqual([])
})

test.each<[ErrorCode, string]>([
  ['folder_not_found', 'cwd'],
  ['agent_unavailable', 'agent'],
  ['overloaded', 'prompt'],
])('the error %s stands where it belongs, and nothing typed is lost', async (code, place) => {
  show()
  await part('prompt').setValue('Fix the login')
  server.answer = () => Promise.reject(new RefusedError({ code, message: 'It did not work.' }))
  await start()
  expect(error().text()).toBe('It did not work.')
  const isBesideField = error().element.parentElement?.contains(part(place).element)
  expect(isBesideField).toBe(true)
  expect(part('prompt').element.value).toBe('Fix the login')
})
