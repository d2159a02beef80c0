import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { useCues } from '../../data/cues'
import { startStores } from '../../testing/fixtures'
import CueSettings from './CueSettings.vue'
import { playChime, unlockSound } from './chime'

vi.mock('./chime', () => ({
  playChime: vi.fn(() => Promise.resolve()),
  unlockSound: vi.fn(() => Promise.resolve(true)),
}))

let settings: VueWrapper
const part = (id: string) => settings.find(`[data-testid="${id}"]`)

async function press(id: string): Promise<void> {
  await part(id).trigger('click')
  await flushPromises()
}

beforeEach(() => {
  startStores()
  vi.mocked(unlockSound).mockResolvedValue(true)
  vi.mocked(playChime).mockClear()
  vi.stubGlobal('isSecureContext', true)
})
afterEach(() => {
  settings.unmount()
  vi.unstubAllGlobals()
})

/** The page in a browser that gives `answer` when it is asked. */
function show(permission: string, answer = permission) {
  const browser = Object.assign(vi.fn(), {
    permission,
    requestPermission: vi.fn(() => {
      browser.permission = answer
      return Promise.resolve()
    }),
  })
  vi.stubGlobal('Notification', browser)
  settings = mount(CueSettings)
  return browser
}

const state = () => part('cue-notifications-state').attributes('data-state')
const isOn = (id: string) => part(id).attributes('aria-checked')

test('the sound is off at first, and can be heard before it is on', async () => {
  show('default')
  expect(isOn('cue-sound')).toBe('false')
  await press('cue-sound-test')
  expect(playChime).toHaveBeenCalledTimes(1)
  expect(useCues().sound).toBe(false)
  await press('cue-sound')
  expect([isOn('cue-sound'), localStorage.getItem('sayso.cues')]).toEqual(['true', '["sound"]'])
})

test('says when the browser plays nothing', async () => {
  show('default')
  vi.mocked(unlockSound).mockResolvedValue(false)
  await press('cue-sound-test')
  expect(part('cue-sound-problem').text()).toContain('did not play it')
  expect(playChime).not.toHaveBeenCalled()
})

test('switching notifications on asks the browser, opening the page does not', async () => {
  const browser = show('default', 'granted')
  expect([state(), browser.requestPermission.mock.calls.length]).toEqual(['not_asked', 0])
  await press('cue-notifications')
  expect([state(), isOn('cue-notifications')]).toEqual(['allowed', 'true'])
  await press('cue-notifications')
  expect([state(), isOn('cue-notifications')]).toEqual(['allowed', 'false'])
})

test('a refusal leaves it off and says how to unblock it', async () => {
  show('default', 'denied')
  await press('cue-notifications')
  expect(isOn('cue-notifications')).toBe('false')
  expect(part('cue-notifications').attributes('disabled')).toBeDefined()
  expect(part('cue-notifications-state').text()).toContain('site settings')
})

test('says when the browser allows notifications and shows none', async () => {
  const browser = show('granted')
  browser.mockImplementation(function () {
    throw new TypeError('Illegal constructor')
  })
  await press('cue-notifications-test')
  expect(part('cue-notifications-state').text()).toContain('does not show notifications')
})

test('a page without encryption has no notifications', () => {
  vi.stubGlobal('isSecureContext', false)
  show('default')
  expect(state()).toBe('insecure')
})
