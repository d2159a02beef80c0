import { expect, test } from 'vitest'

import { makeRequest } from '../../testing/fixtures'
import { headline } from './headline'

test.each([
  ['Bash', 'Run a command'],
  ['mcp__db__query', 'Use query of the tool server db'],
  ['Shout', 'Use the tool Shout'],
  ['constructor', 'Use the tool constructor'],
  ['__proto__', 'Use the tool __proto__'],
])('%s: %s', (tool_name, expected) => {
  expect(headline(makeRequest({ tool_name }))).toBe(expected)
})
