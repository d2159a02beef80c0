import { flushPromises } from '@vue/test-utils'
import { beforeEach, expect, test, vi } from 'vitest'

import type { TranscriptEntry } from '../protocol.gen'
import { makeSession, makeWelcome, SESSION, startStores, textEntry } from '../testing/fixtures'
import { receive } from './receive'
import { useTranscripts } from './transcripts'

beforeEach(() => {
  startStores()
  useTranscripts().open(SESSION)
})

function transcript(...entries: TranscriptEntry[]): void {
  receive({ type: 'transcript', session_id: SESSION, entries })
}

function range(from: number, to: number): TranscriptEntry[] {
  return Array.from({ length: to - from + 1 }, (_, index) => textEntry(from + index))
}

/** Answers the next page with these entries. */
function answerPage(entries: TranscriptEntry[], status = 200) {
  const answer = () => Promise.resolve(new Response(JSON.stringify({ entries }), { status }))
  return vi.spyOn(globalThis, 'fetch').mockImplementation(answer)
}

function known(): { seqs: number[]; rows: number[]; earlier: string } {
  const { entries, rows, earlier } = useTranscripts().current
  return { seqs: entries.map(({ seq }) => seq), rows: rows.map(({ seq }) => seq), earlier }
}

test('a conversation opens at its end and is completed page by page', async () => {
  transcript(...range(6, 8))
  expect(known()).toEqual({ seqs: [6, 7, 8], rows: [6, 7, 8], earlier: 'more' })

  const fetched = answerPage(range(3, 5))
  const loading = useTranscripts().loadEarlier(SESSION)
  expect(known().earlier).toBe('loading')
  await useTranscripts().loadEarlier(SESSION)
  transcript(textEntry(9))
  await loading
  expect(fetched.mock.calls.map(([url]) => url)).toEqual([
    `/api/sessions/${SESSION}/transcript?before=6&limit=200`,
  ])
  expect(known().seqs).toEqual([3, 4, 5, 6, 7, 8, 9])
  expect(known().rows).toEqual(known().seqs)

  answerPage(range(1, 2))
  await useTranscripts().loadEarlier(SESSION)
  expect(known()).toEqual({
    seqs: [1, 2, 3, 4, 5, 6, 7, 8, 9],
    rows: [1, 2, 3, 4, 5, 6, 7, 8, 9],
    earlier: 'nothing',
  })
})

test.each<[string, TranscriptEntry[], number]>([
  ['the server refuses', [], 503],
  ['a page does not fit', range(1, 3), 200],
])('when %s, nothing is lost and it can be tried again', async (_, entries, status) => {
  transcript(...range(6, 8))
  answerPage(entries, status)
  await useTranscripts().loadEarlier(SESSION)
  expect(known()).toEqual({ seqs: [6, 7, 8], rows: [6, 7, 8], earlier: 'failed' })
  answerPage(range(1, 5))
  await useTranscripts().loadEarlier(SESSION)
  expect(known().earlier).toBe('nothing')
})

test('a page of a conversation that was replaced meanwhile is dropped', async () => {
  transcript(...range(6, 8))
  answerPage(range(1, 5))
  const loading = useTranscripts().loadEarlier(SESSION)
  receive(makeWelcome({ sessions: [makeSession({ last_seq: 2 })] }))
  await loading
  await flushPromises()
  expect(known().seqs).toEqual([])
})

test('an entry takes the place of the text that was seen being written', () => {
  const delta = { type: 'delta' as const, session_id: SESSION, message_id: 'message-2', index: 0 }
  transcript(textEntry(1))
  receive({ ...delta, kind: 'text', text: 'text ' })
  const [block] = useTranscripts().current.live
  receive({ ...delta, kind: 'text', text: '2' })
  expect(useTranscripts().current.live).toEqual([block])
  expect(block?.text).toBe('text 2')
  transcript(textEntry(2))
  const { live, written } = useTranscripts().current
  expect(live).toEqual([])
  expect([...written]).toEqual([[2, 'message-2/0']])
})
