import { expect, test } from 'vitest'

import type { HistoryEntry } from '../../protocol.gen'
import { makeHistoryEntry } from '../../testing/history'
import { actorText, entryLine, oneLine, outcomeMark, subjectWord } from './words'

test.each<[Partial<HistoryEntry>, string, string]>([
  [{ outcome: 'allowed' }, 'Allowed', 'good'],
  [{ outcome: 'denied' }, 'Denied', 'bad'],
  [{ outcome: 'expired' }, 'No answer in time', 'plain'],
  [{ outcome: 'orphaned' }, 'Agent lost', 'plain'],
  [{ kind: 'outcome', outcome: 'failed' }, 'Failed', 'bad'],
  [{ kind: 'alert', outcome: 'ran' }, 'Ran unasked', 'bad'],
  [{ kind: 'mode', outcome: 'acceptEdits' }, 'Accept edits', 'plain'],
  [{ kind: 'mode', outcome: 'bypassPermissions' }, 'Bypass permissions', 'bad'],
  [{ kind: 'later', outcome: 'con\u200bstructor' }, 'Con⟨U+200B⟩structor', 'plain'],
])('%j is %s', (part, word, tone) => {
  const mark = outcomeMark(makeHistoryEntry(part))
  expect([mark.word, mark.tone]).toEqual([word, tone])
})

test.each([
  ['human', 'Pixel 8', 'You on Pixel 8'],
  ['human', '', 'You'],
  ['rule', 'Bash(ls:*)', 'Rule Bash(ls:*)'],
  ['mode', 'acceptEdits', 'Mode Accept edits'],
  ['timeout', '5 min', 'The clock'],
  ['policy', 'unattended', 'Policy: unattended'],
  ['server', '', 'Sayso'],
  ['toString', '', 'To string'],
])('%s %j is %s', (by, by_name, expected) => {
  expect(actorText({ by, by_name })).toBe(expected)
})

test('an entry without a tool says what it is about', () => {
  const words = [
    { kind: 'rule' },
    { kind: 'later' },
    { tool_name: 'x\u202e' },
    { tool_name: 'ExitPlanMode' },
  ]
  const entries = words.map((part) => makeHistoryEntry({ tool_name: null, ...part }))
  expect(entries.map(subjectWord)).toEqual(['Rule', 'Later', 'x⟨U+202E⟩', 'Plan'])
})

test.each([
  ['ls', 'ls', ''],
  ['\n\nls\nrm x\n', 'ls', '+3 lines'],
  ['x'.repeat(500), `${'x'.repeat(400)}…`, ''],
])('%j fits a line', (text, line, more) => {
  expect(oneLine(text)).toEqual({ line, more })
})

test.each([
  ['Bash', 'ls\nrm x', 'ls', '+1 line'],
  ['AskUserQuestion', '{"questions":[{"question":"Red?"},{"question":"Why?"}]}\nno', 'Red?', ''],
  ['ExitPlanMode', '{"plan":"\\n# Fix \\"it\\"\\n\\n1. Now"}', 'Fix "it"', ''],
  ['ExitPlanMode', '{"plan":"# Cut o', 'Cut o', ''],
  ['deploy', '{"mcp_server_name":"deploy","message":"Where to?"}', 'Where to?', ''],
  ['AskUserQuestion', '{"a":"\\"question\\":\\"x', '{"a":"\\"question\\":\\"x', ''],
  [
    'mcp__x__y',
    '{"mcp_server_name":"x","message":"7"}',
    '{"mcp_server_name":"x","message":"7"}',
    '',
  ],
])('of %s a list says what was asked: %j', (tool_name, text, line, more) => {
  expect(entryLine(makeHistoryEntry({ tool_name, text }))).toEqual({ line, more })
})
