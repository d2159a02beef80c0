import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, expect, test, vi } from 'vitest'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'

import { RefusedError } from '../../connection/errors'
import type { AgentInfo, Conversation, ErrorCode } from '../../protocol.gen'
import { answerFetch, installBrowser } from '../../testing/browser'
import { makeAgent, SESSION, startStores, type TestServer } from '../../testing/fixtures'
import NewSessionForm from './NewSessionForm.vue'

installBrowser()
// The menus measure themselves, which takes its time in jsdom.
vi.setConfig({ testTimeout: 20_000 })

const OTHER = '00000000-0000-4000-8000-000000000002'
let server: TestServer
let router: Router
let form: VueWrapper
let conversations: Conversation[]

function show(agents: AgentInfo[] = [makeAgent()]): void {
  server = startStores({ agents })
  server.answer = () => Promise.resolve({ session_id: SESSION, data: undefined })
  conversations = []
  answerFetch(({ pathname }) => {
    if (pathname === '/api/conversations') return { conversations }
    if (pathname === '/api/folders') return { folders: [], exists: true, truncated: false }
    return undefined
  })
  const page = { template: '<i />' }
  router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/', component: page },
      { path: '/sessions/:sessionId', name: 'session', component: page },
    ],
  })
  form = mount(NewSessionForm, { global: { plugins: [router] }, attachTo: document.body })
}

afterEach(() => {
  form.unmount()
  document.body.innerHTML = ''
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const part = (name: string) => form.find<HTMLInputElement>(`[data-testid="new-session-${name}"]`)
const chosen = (name: string) => part(name).attributes('data-value')
const error = () => form.find('[data-testid="form-error"]')

async function start(): Promise<void> {
  await form.find('form').trigger('submit')
  await flushPromises()
}

/** The menu of a choice, opened. */
async function options(name: string): Promise<HTMLElement[]> {
  await part(name).trigger('click')
  await flushPromises()
  return [...document.querySelectorAll<HTMLElement>(`[data-testid="new-session-${name}-option"]`)]
}

async function choose(name: string, value: string): Promise<void> {
  const option = (await options(name)).find(({ dataset }) => dataset.value === value)
  option?.click()
  await flushPromises()
}

test('begins with the defaults of the server and starts with what is filled in', async () => {
  const models = [{ value: 'opus', label: 'Opus', description: null }]
  show([makeAgent({ models })])
  await part('prompt').setValue('Fix the login')
  await choose('model', 'opus')
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
  expect(chosen('agent')).toBe('demo')
  expect(form.text()).toContain(problem)
  const [claude] = await options('agent')
  expect(claude?.hasAttribute('data-disabled')).toBe(true)
  expect(claude?.textContent).toContain(problem)
})

test('a dangerous mode is never the first choice, and is asked about once more', async () => {
  const [safe, dangerous] = makeAgent().permission_modes
  show([makeAgent({ permission_modes: [dangerous!, safe!] })])
  expect(chosen('mode')).toBe('default')
  await choose('mode', 'bypassPermissions')
  await start()
  expect(server.asked).toEqual([])
  await form.find('[data-testid="bypass-question"]').trigger('submit')
  await flushPromises()
  expect(server.asked).toMatchObject([{ permission_mode: 'bypassPermissions' }])
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
  ['agent_unavailable', 'prompt'],
  ['overloaded', 'prompt'],
])('the error %s stands where it belongs, and nothing typed is lost', async (code, place) => {
  show()
  await part('prompt').setValue('Fix the login')
  server.answer = () => Promise.reject(new RefusedError({ code, message: 'It did not work.' }))
  await start()
  expect(error().text()).toBe('It did not work.')
  const isBesideField = error().element.closest('.field')?.contains(part(place).element)
  expect(isBesideField).toBe(true)
  expect(part('prompt').element.value).toBe('Fix the login')
})

test('conversations of the folder are opened, or gone to when they are open already', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  show()
  const updated_at = '2026-01-02T03:04:05Z'
  conversations = [
    { conversation_id: 'a', title: 'Login', updated_at, messages: 2, session_id: null },
    { conversation_id: 'b', title: 'Docs', updated_at, messages: 1, session_id: OTHER },
  ]
  vi.advanceTimersByTime(1000)
  await vi.waitFor(() => expect(form.findAll('[data-testid="conversation"]')).toHaveLength(2))
  const [closed, open] = form.findAll('[data-testid="conversation"]')
  expect(open?.text()).toContain('1 message · open in Sayso')
  await open?.trigger('click')
  await flushPromises()
  expect(router.currentRoute.value.path).toBe(`/sessions/${OTHER}`)
  await closed?.trigger('click')
  await flushPromises()
  expect(server.asked).toEqual([
    { type: 'import_conversation', cwd: '/srv/api', conversation_id: 'a' },
  ])
  expect(router.currentRoute.value.path).toBe(`/sessions/${SESSION}`)
})
