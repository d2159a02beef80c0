import { mount } from '@vue/test-utils'
import { beforeEach, expect, test, vi } from 'vitest'

import { startStores } from '../../testing/fixtures'
import MarkdownText from './MarkdownText.vue'

beforeEach(() => {
  startStores()
})

test('code that is shown gets its colours when they are loaded', async () => {
  const view = mount(MarkdownText, { props: { text: '```python\nimport os\n```' } })
  expect(view.find('.hljs-keyword').exists()).toBe(false)
  await vi.waitFor(() => expect(view.find('.hljs-keyword').text()).toBe('import'))
})
