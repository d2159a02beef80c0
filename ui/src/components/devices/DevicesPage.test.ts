import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { useClock } from '../../data/clock'
import { receive } from '../../data/receive'
import type { Device, Me, Pairing } from '../../protocol.gen'
import { installBrowser } from '../../testing/browser'
import {
  answerCalls,
  makeClaimed,
  makeDevice,
  makeLink,
  makePairing,
  PAIRING,
  PHONE,
  type Answers,
} from '../../testing/devices'
import { makeMe, startStores } from '../../testing/fixtures'
import ClaimNotice from '../access/ClaimNotice.vue'
import DevicesPage from './DevicesPage.vue'

installBrowser()
let page: VueWrapper

beforeEach(() => vi.useFakeTimers({ now: Date.parse('2026-01-02T04:00:00Z') }))
afterEach(() => {
  page.unmount()
  vi.useRealTimers()
})

const phone = makeDevice({ device_id: PHONE, name: 'Pixel', scopes: ['view'], connections: 0 })

async function show(
  devices: Device[],
  answers: Answers = {},
  me: Partial<Me> = {},
  component: typeof DevicesPage | typeof ClaimNotice = DevicesPage,
) {
  const sent = answerCalls(answers)
  startStores({ me: makeMe(me) })
  useClock().start()
  tell(devices)
  page = mount(component, { attachTo: document.body })
  await settle()
  return sent
}

function tell(devices: Device[], pairings: Pairing[] = []): void {
  receive({ type: 'devices', devices, pairings })
}

/** Past the moment in which what appeared takes no clicks. */
async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(600)
  await flushPromises()
}

const part = (id: string) => page.find<HTMLInputElement>(`[data-testid="${id}"]`)
const row = (id: string) => page.get(`[data-device-id="${id}"]`)
const within = (device: string, id: string) => row(device).get(`[data-testid="${id}"]`)

async function press(id: string): Promise<void> {
  await part(id).trigger('click')
  await settle()
}

async function submit(id: string): Promise<void> {
  await part(id).trigger('submit')
  await settle()
}

test('a device says who it is, what it may do and when it was there', async () => {
  await show([makeDevice(), { ...phone, expires_at: '2026-01-12T04:00:00Z' }])
  expect(row(PHONE).text().replace(/\s+/g, ' ')).toContain(
    'PixelView onlylast seen 3 min ago · expires in 10 days',
  )
  expect(page.findAll('[data-testid="device-own"]')).toHaveLength(1)
  expect(page.findAll('[data-testid="device-online"]')).toHaveLength(1)
  expect(part('tokens-empty').exists()).toBe(true)
})

test('a device gets another name, and a refusal keeps what was typed', async () => {
  const problem = { code: 'invalid_message', message: 'Too long.' }
  const path = `/api/devices/${PHONE}`
  const answers: Answers = {
    [`POST ${path}`]: [
      [400, problem],
      [200, {}],
    ],
  }
  const sent = await show([makeDevice(), phone], answers)
  await within(PHONE, 'device-rename').trigger('click')
  await part('device-name-input').setValue(' Work phone ')
  const form = () => within(PHONE, 'device-name-input').element.closest('form')
  form()?.dispatchEvent(new Event('submit'))
  await settle()
  expect([part('device-name-input').element.value, row(PHONE).text()]).toEqual([
    ' Work phone ',
    expect.stringContaining('Too long.'),
  ])
  form()?.dispatchEvent(new Event('submit'))
  await settle()
  expect(sent.at(-1)).toEqual({ method: 'POST', path, body: { name: 'Work phone' } })
  expect(part('device-name-input').exists()).toBe(false)
})

test('what a device may do is changed by a preset or part by part', async () => {
  const path = `/api/devices/${PHONE}`
  const sent = await show([makeDevice(), phone], { [`POST ${path}`]: [[200, {}]] })
  await within(PHONE, 'device-change').trigger('click')
  expect(part('device-scopes-save').attributes('disabled')).toBeDefined()
  await page.get('[data-preset="approve"] input').setValue(true)
  await press('scopes-adjust')
  await page.get('[data-testid="scope"][data-scope="answer"]').setValue(false)
  await submit('device-scopes-form')
  expect(sent).toEqual([{ method: 'POST', path, body: { scopes: ['view', 'approve'] } }])
})

test('nobody gives away more than they have', async () => {
  await show([phone], {}, { scopes: ['view', 'admin'] })
  await within(PHONE, 'device-change').trigger('click')
  await press('scopes-adjust')
  const disabled = page
    .findAll<HTMLInputElement>('[data-testid="scope"]')
    .filter(({ element }) => element.disabled)
  expect(disabled.map((input) => input.attributes('data-scope'))).toEqual([
    'view',
    'answer',
    'approve',
    'rules',
  ])
})

test.each([
  ['revoked', PHONE, `/api/devices/${PHONE}`, 'DELETE'],
  ['signed out, when it is this one', makeDevice().device_id, '/api/sign_out', 'POST'],
])('a device is %s after a question', async (_, id, path, method) => {
  const sent = await show([makeDevice(), phone], { [`${method} ${path}`]: [[200, {}]] })
  await within(id, 'device-revoke').trigger('click')
  await press('revoke-cancel')
  expect(sent).toEqual([])
  await within(id, 'device-revoke').trigger('click')
  await submit('revoke-question')
  expect(sent.map((one) => [one.method, one.path])).toEqual([[method, path]])
})

test('a token is made and shown once', async () => {
  const made = { device: { ...phone, kind: 'token', name: 'Report' }, token: 't0ken' }
  const sent = await show([makeDevice()], { 'POST /api/devices/tokens': [[200, made]] })
  await press('token-open')
  await submit('token-form')
  expect([sent, part('token-error').text()]).toEqual([
    [],
    'Give it a name, so that you know it again.',
  ])
  await part('token-name').setValue('Report')
  await submit('token-form')
  expect(sent.map(({ body }) => body)).toEqual([
    { name: 'Report', scopes: ['view'], expires_in_days: 90 },
  ])
  expect(part('token').text()).toBe('t0ken')
  expect(part('token-example').text()).toContain("curl -H 'Authorization: Bearer t0ken' http")
  await press('token-done')
  expect(page.html()).not.toContain('t0ken')
})

const LINKS = { 'POST /api/devices/pairings': [[200, makeLink()]] } satisfies Answers

test('a phone is paired: what it may do, the code, who knocks, and the answer', async () => {
  const path = `/api/devices/pairings/${PAIRING}/confirm`
  const sent = await show([makeDevice()], { ...LINKS, [`POST ${path}`]: [[200, {}]] })
  await press('pair-open')
  await page.get('[data-preset="approve"] input').setValue(true)
  await part('pair-make').element.form?.dispatchEvent(new Event('submit'))
  await settle()
  expect(part('qr').exists()).toBe(true)
  expect(part('pair-url').text()).toBe('https://192.168.0.2:7297/#pair=secret')
  expect(part('pair-left').text()).toContain('Works once, for 1:5')
  expect(part('pair-local').exists()).toBe(false)
  tell([makeDevice()], [makeClaimed()])
  await settle()
  expect(part('pair-dialog').get('h2').text()).toBe('Is this your phone?')
  expect(part('claim').text()).toContain('Safari on iPhone from 192.168.0.7')
  expect(part('pairing-code').attributes('data-code')).toBe('123456')
  await part('claim-name').setValue('My phone')
  const confirmed = submit('claim')
  // Everybody is told before the one who answered hears that it counted.
  tell([makeDevice(), phone])
  await confirmed
  expect(sent.map(({ body }) => body)).toEqual([
    { scopes: ['view', 'answer', 'approve'] },
    { code: '123456', name: 'My phone', scopes: ['view', 'answer', 'approve'] },
  ])
  expect(part('pair-dialog').attributes('data-step')).toBe('admitted')
  expect(part('pair-dialog').text()).toContain('My phone can use Sayso now.')
})

test('a code that is over makes room for a new one', async () => {
  const links: Answers = { 'POST /api/devices/pairings': [[200, makeLink()]] }
  const sent = await show([makeDevice()], links)
  await press('pair-open')
  await part('pair-make').element.form?.dispatchEvent(new Event('submit'))
  await settle()
  tell([makeDevice()], [makePairing()])
  await vi.advanceTimersByTimeAsync(120_000)
  expect(part('pair-left').text()).toBe('This code is over.')
  expect(part('pair-url').exists()).toBe(false)
  await press('pair-renew')
  expect(sent).toHaveLength(2)
})

test('who knocks is seen everywhere, takes no focus, and is gone when another has answered', async () => {
  const path = `/api/devices/pairings/${PAIRING}/refuse`
  const sent = await show([makeDevice()], { [`POST ${path}`]: [[200, {}]] }, {}, ClaimNotice)
  expect(part('claim-notice').exists()).toBe(false)
  tell([makeDevice()], [makeClaimed()])
  await flushPromises()
  expect(page.text()).toContain('A device wants to come in')
  expect(document.activeElement).toBe(document.body)
  // A click that was meant for something else decides nothing.
  expect(part('claim-allow').attributes('disabled')).toBeDefined()
  await settle()
  expect(part('claim-allow').attributes('disabled')).toBeUndefined()
  tell([makeDevice()], [])
  await flushPromises()
  expect(part('claim-notice').exists()).toBe(false)
  tell([makeDevice()], [makeClaimed()])
  await settle()
  await press('claim-refuse')
  expect(sent).toEqual([{ method: 'POST', path, body: {} }])
  expect(part('claim-notice').exists()).toBe(false)
})

test('a password is set, and then can be changed or removed', async () => {
  const sent = await show([makeDevice()], { 'POST /api/password': [[200, {}]] })
  await press('password-set')
  await part('password-new').setValue('correct horse')
  await part('password-repeat').setValue('correct')
  await submit('password-form')
  expect([sent, part('password-form').text()]).toEqual([
    [],
    expect.stringContaining('They are not the same yet.'),
  ])
  await part('password-repeat').setValue('correct horse')
  await submit('password-form')
  await press('password-change')
  await part('password-current').setValue('correct horse')
  await part('password-new').setValue('battery staple')
  await part('password-repeat').setValue('battery staple')
  await submit('password-form')
  await press('password-remove')
  await part('password-current').setValue('battery staple')
  await submit('password-form')
  expect(sent.map(({ body }) => body)).toEqual([
    { new: 'correct horse' },
    { current: 'correct horse', new: 'battery staple' },
    { current: 'battery staple' },
  ])
  expect(part('password-set').exists()).toBe(true)
})

test('a device that may not manage others sees itself and can leave', async () => {
  const answers: Answers = { 'POST /api/sign_out': [[200, {}]] }
  const sent = await show([], answers, { name: 'Pixel', scopes: ['view'] })
  expect(part('own-device').text()).toContain('This device may not manage devices.')
  expect([part('pair-open').exists(), part('password').exists()]).toEqual([false, false])
  await press('sign-out')
  await submit('revoke-question')
  expect(sent.map(({ path }) => path)).toEqual(['/api/sign_out'])
})
