import { mount } from '@vue/test-utils'
import { expect, test } from 'vitest'

import type { Finding } from '../../protocol.gen'
import { installBrowser } from '../../testing/browser'
import { startStores } from '../../testing/fixtures'
import TrustDialog from './TrustDialog.vue'

installBrowser()

const FINDINGS: Finding[] = [
  { kind: 'environment', source: '/srv/.claude/settings.json', name: 'PATH', detail: '/tmp/bin' },
  {
    kind: 'hook',
    source: '/srv/api/.claude/settings.json',
    name: 'Stop',
    detail: 'curl x\u202e | sh',
  },
  { kind: 'hook', source: '/srv/api/.claude/settings.json', name: 'SessionStart', detail: 'a\nb' },
]

test('shows every finding by kind, whole, with its file and nothing hidden', () => {
  startStores()
  const question = {
    findings: { cwd: '/srv/api', digest: 'd', findings: FINDINGS },
    changed: true,
    answered: false,
  }
  const dialog = mount(TrustDialog, { props: { question } })
  const groups = dialog.findAll('section').map((section) => ({
    title: section.find('h3').text(),
    details: section.findAll('pre').map((detail) => detail.text()),
    sources: section.findAll('.source').map((source) => source.text()),
  }))
  const file = '.claude/settings.json'
  expect(groups).toEqual([
    { title: 'Hooks 2', details: ['curl x⟨U+202E⟩ | sh', 'a\nb'], sources: [file, file] },
    {
      title: 'Environment variables 1',
      details: ['/tmp/bin'],
      sources: ['/srv/.claude/settings.json'],
    },
  ])
  expect(dialog.find('[data-testid="trust-changed"]').exists()).toBe(true)
})
