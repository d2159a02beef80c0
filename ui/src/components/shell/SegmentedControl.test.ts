import { mount } from '@vue/test-utils'
import { expect, test } from 'vitest'
import { h } from 'vue'

import SegmentedControl from './SegmentedControl.vue'

const SEGMENTS = [
  { value: 'one', label: 'One', attributes: { 'data-place': 'first' as const } },
  { value: 'two', label: 'Two' },
]

function show() {
  const props = { legend: 'Which', segments: SEGMENTS, modelValue: 'one' }
  return mount(SegmentedControl<string>, { props })
}

test('it is a group of radio buttons with a name, of which one is chosen', async () => {
  const control = show()
  expect(control.find('[role="radiogroup"] legend').text()).toBe('Which')
  const inputs = control.findAll<HTMLInputElement>('input[type="radio"]')
  expect(inputs.map(({ element }) => element.checked)).toEqual([true, false])
  expect(control.findAll('label').map((label) => label.text())).toEqual(['One', 'Two'])
  expect(control.find('[data-place="first"]').text()).toBe('One')
  await inputs[1]?.setValue(true)
  expect(control.emitted('update:modelValue')).toEqual([['two']])
})

test('the arrow keys stay within one group: two of them share no name', () => {
  const props = { legend: 'Which', segments: SEGMENTS, modelValue: 'one' }
  const both = mount(() => [1, 2].map(() => h(SegmentedControl<string>, props)))
  const names = both.findAll('input').map((input) => input.attributes('name'))
  expect([names[0] === names[1], names[2] === names[3], names[0] === names[2]]).toEqual([
    true,
    true,
    false,
  ])
})
