import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { installBrowser } from '../../testing/browser'
import { startStores } from '../../testing/fixtures'
import RulesExport from './RulesExport.vue'

installBrowser()

const FILE = '{"permissions":{"deny":["Bash(rm:*)"]}}'
let dialog: VueWrapper
let asked: string[]

beforeEach(() => {
  vi.useFakeTimers()
  startStores()
  asked = []
})
afterEach(() => {
  dialog.unmount()
  vi.useRealTimers()
})

async function show(answer: () => Response = () => new Response(FILE)): Promise<void> {
  vi.stubGlobal('fetch', (address: string) => {
    asked.push(address)
    return Promise.resolve(answer())
  })
  dialog = mount(RulesExport, { attachTo: document.body })
  await settle()
}

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(300)
  await flushPromises()
}

const part = (id: string) => dialog.find<HTMLInputElement>(`[data-testid="${id}"]`)

test('the rules for everywhere, to be looked at, copied and downloaded', async () => {
  const writeText = vi.fn(() => Promise.resolve())
  Object.assign(navigator, { clipboard: { writeText } })
  await show()
  expect(asked).toEqual(['/api/rules/settings'])
  expect(part('rules-export-text').text()).toBe(FILE)
  expect(part('rules-export').text()).toContain(
    'Lifetimes, reasons and rules of one session do not exist in that format.',
  )
  const { href, download } = part('rules-export-download').attributes()
  expect([href, download]).toEqual(['/api/rules/settings', 'settings.json'])
  await part('rules-export-copy').trigger('click')
  await flushPromises()
  expect(writeText).toHaveBeenCalledWith(FILE)
  expect(part('rules-export-copy').text()).toBe('Copied')
})

test('the rules that apply in a folder', async () => {
  await show()
  await dialog.find('[data-place="project"] input').setValue(true)
  await settle()
  expect(asked.at(-1)).toBe('/api/rules/settings?cwd=%2Fsrv%2Fapi')
  await part('rules-export-path').setValue('/srv/my web')
  expect(part('rules-export-download').exists()).toBe(false)
  await settle()
  const address = '/api/rules/settings?cwd=%2Fsrv%2Fmy+web'
  expect(asked.at(-1)).toBe(address)
  expect(part('rules-export-download').attributes('href')).toBe(address)
  await part('rules-export-path').setValue('')
  await settle()
  expect(dialog.text()).toContain('Name the project’s folder.')
  expect(asked).toHaveLength(3)
})

test('what goes wrong is said in place of the file', async () => {
  const refusal = { code: 'folder_not_found', message: 'There is no such folder.' }
  await show(() => Response.json(refusal, { status: 404 }))
  expect(part('rules-export-problem').text()).toBe('There is no such folder.')
  expect(part('rules-export-copy').element.disabled).toBe(true)
  expect(part('rules-export-download').exists()).toBe(false)
})
