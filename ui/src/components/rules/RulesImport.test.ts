import { flushPromises, mount, RouterLinkStub, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { RefusedError, UnansweredError } from '../../connection/errors'
import { receive } from '../../data/receive'
import type { Ack, RuleEffect, SettingsRule, SettingsRules } from '../../protocol.gen'
import { installBrowser } from '../../testing/browser'
import { startStores, type TestServer } from '../../testing/fixtures'
import { makeRule } from '../../testing/rules'
import RulesPage from './RulesPage.vue'

installBrowser()

let server: TestServer
let page: VueWrapper
let posted: unknown[]

beforeEach(() => {
  server = startStores({
    sessions: [],
    rules: [makeRule({ rule: 'Bash(ls:*)', scope: { kind: 'everywhere' } })],
  })
  server.answer = () => Promise.resolve({ rule_id: 'new', data: undefined })
  posted = []
  const global = { stubs: { RouterLink: RouterLinkStub } }
  page = mount(RulesPage, { global, attachTo: document.body })
})
afterEach(() => page.unmount())

function answerSettings(answer: SettingsRules | { code: string; message: string }): void {
  vi.stubGlobal('fetch', (address: string, init: RequestInit) => {
    posted.push([address, JSON.parse(String(init.body))])
    return Promise.resolve(Response.json(answer, { status: 'code' in answer ? 400 : 200 }))
  })
}

const part = (id: string) => page.find<HTMLInputElement>(`[data-testid="${id}"]`)
const parts = (id: string) => page.findAll<HTMLElement>(`[data-testid="${id}"]`)
const press = (id: string) => part(id).trigger('click')
const rows = () => parts('rules-import-rule')
const texts = () => rows().map((row) => row.text().replace(/\s+/g, ' '))
const boxes = () => page.findAll<HTMLInputElement>('[data-testid="rules-import-rule"] input')
const ticked = () => boxes().map(({ element }) => element.checked)
const states = () => rows().map((row) => row.attributes('data-state'))

function found(rule: string, effect: RuleEffect = 'allow', too_broad: string | null = null) {
  return { rule, effect, too_broad } satisfies SettingsRule
}

/** The dialog with what was found in a file. */
async function look(rules: SettingsRule[], refused: SettingsRules['refused'] = []): Promise<void> {
  answerSettings({ rules, refused })
  await press('rules-import-open')
  await part('rules-import-text').setValue('{"permissions":{}}')
  await press('rules-import-read')
  await flushPromises()
}

async function add(): Promise<void> {
  await press('rules-import-add')
  await flushPromises()
}

test('what is new is ticked, what is there or too broad is not', async () => {
  await look(
    [
      found('Bash(npm test:*)'),
      found('Bash(ls:*)'),
      found('Bash(ls:*)', 'deny'),
      found('Bash', 'allow', 'It allows every command.'),
      found('Bash(npm test:*)'),
    ],
    [{ text: 'Bash(\u202e', effect: 'deny', problem: 'A bracket is missing.' }],
  )
  expect(posted).toEqual([['/api/rules/settings', { text: '{"permissions":{}}' }]])
  expect(part('rules-import-found').text()).toBe('4 rules found.')
  expect(texts()).toEqual([
    'AllowBash(npm test:*)',
    'AllowBash(ls:*)already there',
    'DenyBash(ls:*)',
    'AllowBashWider than it looks, so tick it yourself: It allows every command.',
  ])
  expect(ticked()).toEqual([true, false, true, false])
  expect(part('rules-import-add').text()).toBe('Add 2 rules')
  expect(part('rules-import-refused').text()).toBe('DenyBash(⟨U+202E⟩A bracket is missing.')
  expect(server.asked).toEqual([])
})

test('in a project other rules are there', async () => {
  await look([found('Bash(ls:*)')])
  await page.find('[data-place="project"] input').setValue(true)
  expect(part('rules-import-path').element.value).toBe('/srv/api')
  expect(ticked()).toEqual([true])
  receive({
    type: 'rules',
    rules: [makeRule({ rule: 'Bash(ls:*)', scope: { kind: 'project', path: '/srv/web' } })],
  })
  await part('rules-import-path').setValue('/srv/web/')
  expect(states()).toEqual(['there'])
  await part('rules-import-path').setValue(' ')
  expect(part('rules-import-add').element.disabled).toBe(true)
})

test('the ticked ones are added one by one, a broad one only by its own tick', async () => {
  await look([found('Read'), found('Bash', 'allow', 'It is wide.'), found('Edit', 'ask')])
  await boxes()[0]?.setValue(false)
  await boxes()[1]?.setValue(true)
  const answers: ((ack: Ack) => void)[] = []
  server.answer = () => new Promise((resolve) => answers.push(resolve))
  await add()
  expect(part('rules-import-status').text()).toBe('Adding 1 of 2…')
  expect(boxes().every(({ element }) => element.disabled)).toBe(true)
  answers[0]?.({ rule_id: 'a', data: undefined })
  await flushPromises()
  expect(part('rules-import-status').text()).toBe('Adding 2 of 2…')
  expect(states()).toEqual(['new', 'added', 'new'])
  answers[1]?.({ rule_id: 'b', data: undefined })
  await flushPromises()
  expect(part('rules-import-status').text()).toBe('2 rules added.')
  const scope = { kind: 'everywhere' }
  expect(server.asked).toEqual([
    { type: 'add_rule', rule: 'Bash', effect: 'allow', scope, confirm_broad: true },
    { type: 'add_rule', rule: 'Edit', effect: 'ask', scope },
  ])
})

test('one that fails says why, keeps no other, and can be tried again', async () => {
  await look([found('Read'), found('Edit')])
  const refusal = new RefusedError({ code: 'invalid_rule', message: 'Not this one.' })
  server.answer = (message) =>
    message.type === 'add_rule' && message.rule === 'Read'
      ? Promise.reject(refusal)
      : Promise.resolve({ rule_id: 'new', data: undefined })
  await add()
  expect(states()).toEqual(['failed', 'added'])
  expect(texts()[0]).toBe('AllowReadNot this one.')
  expect(part('rules-import-status').text()).toBe('1 rule added. 1 rule failed; see why above.')
  server.answer = () => Promise.resolve({ rule_id: 'new', data: undefined })
  await add()
  expect(server.asked.slice(2)).toMatchObject([{ rule: 'Read' }])
  expect(part('rules-import-add').element.disabled).toBe(true)
})

test('without a connection it stops at the first', async () => {
  await look([found('Read'), found('Edit')])
  server.answer = () => Promise.reject(new UnansweredError('offline'))
  await add()
  expect(states()).toEqual(['failed', 'new'])
  expect(ticked()).toEqual([true, true])
})

test('what is no settings file is said in place, and the text stays', async () => {
  answerSettings({ code: 'invalid_message', message: 'This is not JSON: line 1.' })
  await press('rules-import-open')
  await part('rules-import-text').setValue('nonsense')
  await press('rules-import-read')
  await flushPromises()
  expect(part('rules-import-problem').text()).toBe('This is not JSON: line 1.')
  await press('rules-import-close')
  expect(part('rules-import').exists()).toBe(false)
  await press('rules-import-open')
  expect(part('rules-import-text').element.value).toBe('nonsense')
})

test('a chosen file is read at once', async () => {
  answerSettings({ rules: [], refused: [] })
  await press('rules-import-open')
  const file = { name: 'settings.json', size: 2, text: () => Promise.resolve('{}') }
  const input = part('rules-import-file')
  Object.defineProperty(input.element, 'files', { value: [file] })
  await input.trigger('change')
  await flushPromises()
  expect(posted).toEqual([['/api/rules/settings', { text: '{}' }]])
  expect(part('rules-import-found').text()).toBe(
    'There is no rule in this file that Sayso can take over.',
  )
})

test('a file that cannot be a settings file is not even read', async () => {
  answerSettings({ rules: [], refused: [] })
  await press('rules-import-open')
  const input = part('rules-import-file')
  Object.defineProperty(input.element, 'files', { value: [{ name: 'film.mov', size: 1e9 }] })
  await input.trigger('change')
  await flushPromises()
  expect(part('rules-import-problem').text()).toBe('film.mov is too large for a settings file.')
  expect(posted).toEqual([])
})

test('once all is added, the next import begins anew', async () => {
  await look([found('Read')])
  await add()
  await press('rules-import-close')
  await press('rules-import-open')
  expect(part('rules-import-text').element.value).toBe('')
})
