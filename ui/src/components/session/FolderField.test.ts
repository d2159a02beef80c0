import { mount } from '@vue/test-utils'
import { expect, test } from 'vitest'
import { nextTick } from 'vue'

import { installBrowser } from '../../testing/browser'
import FolderField from './FolderField.vue'

installBrowser()

/** A field in which `typed` was typed, and what the server found for it. */
async function type(typed: string, ...paths: string[]) {
  const field = mount(FolderField, {
    props: {
      modelValue: '',
      known: null,
      recent: ['/home/me/web'],
      error: null,
      'onUpdate:modelValue': (modelValue: string) => void field.setProps({ modelValue }),
    },
    attachTo: document.body,
  })
  const input = field.find<HTMLInputElement>('input')
  await input.setValue(typed)
  const folders = paths.map((path) => ({ path, project: path.endsWith('api') }))
  await field.setProps({ known: { typed, folders, exists: false, truncated: false } })

  async function press(...keys: string[]): Promise<boolean> {
    let taken = false
    for (const key of keys) {
      const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
      taken = !input.element.dispatchEvent(event)
      await nextTick()
    }
    return taken
  }
  const active = () => field.find('[aria-selected="true"]')
  const expanded = () => input.attributes('aria-expanded')
  return { field, press, active, expanded, value: () => input.element.value }
}

test('the arrows go through the folders and Enter takes one', async () => {
  const { press, active, expanded, value } = await type('/home/me/', '/home/me/api', '/home/me/web')
  expect(expanded()).toBe('true')
  await press('ArrowDown')
  expect(active().text()).toBe('apiproject')
  await press('ArrowDown')
  expect(active().text()).toBe('web')
  expect(await press('Enter')).toBe(true)
  expect([value(), expanded()]).toEqual(['/home/me/web', 'false'])
})

test('Enter without a choice is left to the form', async () => {
  const { press, value } = await type('/home/me/w', '/home/me/web')
  expect(await press('Enter')).toBe(false)
  expect(value()).toBe('/home/me/w')
})

test.each([
  ['the only folder, to go on inside', '/home/me/w', ['/home/me/web'], '/home/me/web/', true],
  [
    'as far as all agree',
    '/home/me/a',
    ['/home/me/api-a', '/home/me/api-b'],
    '/home/me/api-',
    true,
  ],
  ['nothing, and moves on', '/home/me/a', ['/home/me/api', '/home/me/ab'], '/home/me/a', false],
  ['from the home folder', '~/w', ['/home/me/web'], '/home/me/web/', true],
])('Tab completes %s', async (_name, typed, paths, completed, taken) => {
  const { press, value } = await type(typed, ...paths)
  expect(await press('Tab')).toBe(taken)
  expect(value()).toBe(completed)
})

test('Esc closes the list and keeps what was typed', async () => {
  const { press, expanded, value } = await type('/home/me/w', '/home/me/web')
  await press('Escape')
  expect([value(), expanded()]).toEqual(['/home/me/w', 'false'])
})

test('a recent folder is one click away, and a missing one is said', async () => {
  const { field, value } = await type('/nowhere')
  expect(field.find('[data-testid="folder-missing"]').exists()).toBe(true)
  await field.find('[data-testid="recent-folder"]').trigger('click')
  expect(value()).toBe('/home/me/web')
})
