import { expect, test } from 'vitest'

import { readOffers } from './suggestions'

const MODES = [
  { mode: 'acceptEdits', label: 'Accept edits', description: 'Edits.', dangerous: false },
  { mode: 'bypassPermissions', label: 'Bypass', description: 'Asks nothing.', dangerous: true },
]

test('a rule is shown as it is written, with where it goes', () => {
  const rules = [{ toolName: 'Bash', ruleContent: 'npm test *' }, { toolName: 'WebSearch' }]
  const suggestion = { type: 'addRules', rules, behavior: 'allow', destination: 'localSettings' }
  expect(readOffers([suggestion], MODES)).toEqual([
    {
      index: 0,
      what: 'Allow without asking',
      subjects: ['Bash(npm test *)', 'WebSearch'],
      where: 'in this project, for you (.claude/settings.local.json)',
      isWide: false,
    },
  ])
})

test('a folder and a mode reach further than the request', () => {
  const offers = readOffers(
    [
      { type: 'addDirectories', directories: ['/srv/other'], destination: 'session' },
      { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
    ],
    MODES,
  )
  expect(offers.map(({ what, subjects, isWide }) => [what, subjects, isWide])).toEqual([
    ['Let the agent work in another folder', ['/srv/other'], true],
    ['Switch to “Accept edits”: Edits.', [], true],
  ])
})

test('what cannot be read, or asks nothing any more, is not offered; the rest keeps its place', () => {
  const good = { type: 'addRules', rules: [{ toolName: 'Read' }], behavior: 'allow' }
  const offers = readOffers(
    [
      'what',
      { type: 'addRules', rules: [{ toolName: 7 }], behavior: 'allow' },
      { type: 'addRules', rules: [{ toolName: 'Bash' }], behavior: 'shrug' },
      { type: 'setMode', mode: 'bypassPermissions', destination: 'session' },
      { type: 'setMode', mode: 'unheardOf', destination: 'session' },
      { type: 'removeRules', rules: [{ toolName: 'Bash' }], behavior: 'deny' },
      good,
    ],
    MODES,
  )
  expect(offers.map(({ index, where }) => [index, where])).toEqual([
    [6, "in the agent's settings ()"],
  ])
})
