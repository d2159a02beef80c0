import { afterEach, expect, test, vi } from 'vitest'

import { useProof } from '../data/proof'
import { useServer } from '../data/server'
import { answerCalls } from '../testing/devices'
import { startStores } from '../testing/fixtures'
import { RefusedError } from './errors'
import { proven, proveWith } from './proof'
import { deleteJson, postJson } from './rest'

const REFUSAL = { code: 'proof_required' as const, message: 'Give the password first.' }
const refused = () => Promise.reject(new RefusedError(REFUSAL))

afterEach(() => proveWith(null))

/** Refused once; then it works. */
function onceRefused(): () => Promise<string> {
  return vi.fn(() => Promise.resolve('done')).mockImplementationOnce(refused)
}

test('with the password the same thing is done again', async () => {
  const prover = vi.fn(() => Promise.resolve(true))
  proveWith(prover)
  const work = onceRefused()
  expect(await proven(work)).toBe('done')
  expect([prover, work].map((one) => vi.mocked(one).mock.calls.length)).toEqual([1, 2])
})

test('without it the refusal comes through as it was, and nothing is done again', async () => {
  proveWith(() => Promise.resolve(false))
  const work = vi.fn(refused)
  await expect(proven(work)).rejects.toThrow('Give the password first.')
  expect(work).toHaveBeenCalledTimes(1)
})

test('other refusals ask for no password', async () => {
  const prover = vi.fn(() => Promise.resolve(true))
  proveWith(prover)
  const forbidden = new RefusedError({ code: 'forbidden', message: 'It lacks `rules`.' })
  await expect(proven(() => Promise.reject(forbidden))).rejects.toBe(forbidden)
  expect(prover).not.toHaveBeenCalled()
})

test('several at once share one question', async () => {
  startStores()
  const proof = useProof()
  proveWith(proof.ask)
  const both = Promise.all([proven(onceRefused()), proven(onceRefused())])
  await vi.waitFor(() => expect(proof.isAsked).toBe(true))
  proof.end(true)
  expect(await both).toEqual(['done', 'done'])
  expect(proof.isAsked).toBe(false)
})

test('the socket, POST and DELETE all ask', async () => {
  const server = startStores()
  const prover = vi.fn(() => Promise.resolve(true))
  proveWith(prover)
  server.answer = vi.fn(() => Promise.resolve({ data: undefined })).mockImplementationOnce(refused)
  await useServer().ask({ type: 'remove_rule', rule_id: 'r' })
  expect(server.asked).toHaveLength(2)
  const sent = answerCalls({
    'POST /api/devices/d': [
      [403, REFUSAL],
      [200, {}],
    ],
    'DELETE /api/devices/d': [
      [403, REFUSAL],
      [200, {}],
    ],
  })
  await postJson('/api/devices/d', { name: 'x' })
  await deleteJson('/api/devices/d')
  expect(sent.map(({ method }) => method)).toEqual(['POST', 'POST', 'DELETE', 'DELETE'])
  expect(prover).toHaveBeenCalledTimes(3)
})
