import { expect, test } from 'vitest'

import { channelOf, type ChannelDraft, newDraft, problemsOf, refusalOf } from './channelDraft'

const NTFY: ChannelDraft = { ...newDraft(new Uint8Array([0, 1, 255])), name: 'My phone' }

function check(part: Partial<ChannelDraft>): string[] {
  return Object.keys(problemsOf({ ...NTFY, ...part }))
}

test.each<[Partial<ChannelDraft>, string[]]>([
  [{}, []],
  [{ name: '  ' }, ['name']],
  [{ server: 'ntfy.sh', topic: 'a b' }, ['server', 'topic']],
  [{ topic: 'x'.repeat(65) }, ['topic']],
  [{ topic: '' }, ['topic']],
  [{ token: 'tk_1 2' }, ['token']],
  [{ way: 'webhook' }, ['url']],
  [{ way: 'webhook', url: 'https://bot.example.org/x?y=1' }, []],
  [{ way: 'slack', url: 'ftp://example.org' }, ['url']],
  [{ way: 'slack', url: 'https://me:secret@example.org' }, ['url']],
])('%o has problems at %o', (part, expected) => {
  expect(check(part)).toEqual(expected)
})

test('a topic is made up of letters that nobody mixes up', () => {
  expect(NTFY.topic).toMatch(/^sayso-[a-zA-Z2-9]{3}$/)
})

test('what is sent holds what the chosen way needs', () => {
  const url = 'https://hooks.example.org/1'
  const draft = { ...NTFY, topic: 'sayso-1', token: ' tk_1 ', url }
  expect([
    channelOf(draft),
    channelOf({ ...draft, way: 'webhook' }),
    channelOf({ ...draft, way: 'slack' }),
  ]).toEqual([
    {
      name: 'My phone',
      target: { kind: 'ntfy', server: 'https://ntfy.sh', topic: 'sayso-1', token: 'tk_1' },
    },
    { name: 'My phone', target: { kind: 'webhook', url, format: 'sayso' } },
    { name: 'My phone', target: { kind: 'webhook', url, format: 'slack' } },
  ])
})

test('a refusal of the server is shown at its field', () => {
  expect(refusalOf('`topic` must have 1 to 64 letters.')).toEqual({
    topic: '`topic` must have 1 to 64 letters.',
  })
  expect(refusalOf('There are too many channels. Remove some first.')).toBeNull()
})
