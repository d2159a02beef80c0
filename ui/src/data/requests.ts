import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'

import { RefusedError, UnansweredError } from '../connection/errors'
import type { Decision, Outcome, PendingRequest } from '../protocol.gen'
import { outcomeText } from '../text/outcome'
import { errorText } from './errors'
import { forgetDrafts, forgetDraftsExcept } from './requestDrafts'
import { useServer } from './server'

/** A request that has just ended, shown for a breath. */
export interface ClosedRequest {
  request: PendingRequest
  outcome: Outcome
}

const BREATH = 4000
/** It was never sent, and says so until there is a connection again. */
const OFFLINE = errorText(new UnansweredError('offline'))

/** What agents wait for, in the server's order, and what this page sent about it. */
export const useRequests = defineStore('requests', () => {
  const server = useServer()
  const open = shallowRef<readonly PendingRequest[]>([])
  const closed = shallowRef<readonly ClosedRequest[]>([])
  /** Decided here, not yet confirmed by `request_closed`. */
  const sent = shallowRef<ReadonlySet<string>>(new Set())
  const inFlight = new Set<string>()
  const errors = shallowRef<ReadonlyMap<string, string>>(new Map())
  /** Those whose whole input has been in view on this page. */
  const seen = shallowRef<ReadonlySet<string>>(new Set())

  const count = computed(() => open.value.length)
  const bySession = computed(() => {
    const grouped = new Map<string, PendingRequest[]>()
    for (const request of open.value) {
      grouped.set(request.session_id, [...(grouped.get(request.session_id) ?? []), request])
    }
    return grouped
  })

  function ofSession(sessionId: string): readonly PendingRequest[] {
    return bySession.value.get(sessionId) ?? []
  }

  function replaceAll(requests: PendingRequest[]): void {
    open.value = requests
    // What is open again after its answer was taken can be answered again.
    sent.value = new Set([...sent.value].filter((id) => inFlight.has(id)))
    const ids = new Set(requests.map((request) => request.request_id))
    errors.value = new Map(
      [...errors.value].filter(([id, text]) => ids.has(id) && text !== OFFLINE),
    )
    forgetDraftsExcept(ids)
  }

  function markSeen(requestId: string): void {
    if (!seen.value.has(requestId)) seen.value = new Set(seen.value).add(requestId)
  }

  function put(request: PendingRequest): void {
    const index = open.value.findIndex(({ request_id }) => request_id === request.request_id)
    open.value = index < 0 ? [...open.value, request] : open.value.with(index, request)
  }

  /** A late update must not bring a closed request back. */
  function refresh(request: PendingRequest): void {
    if (open.value.some(({ request_id }) => request_id === request.request_id)) put(request)
  }

  function close(requestId: string, outcome: Outcome): void {
    const request = open.value.find(({ request_id }) => request_id === requestId)
    if (request === undefined) return
    open.value = open.value.filter((other) => other !== request)
    forgetSent(requestId)
    setError(requestId, null)
    forgetDrafts(requestId)
    const entry = { request, outcome }
    closed.value = [...closed.value, entry]
    setTimeout(() => {
      closed.value = closed.value.filter((other) => other !== entry)
    }, BREATH)
  }

  function removeSession(sessionId: string): void {
    open.value = open.value.filter(({ session_id }) => session_id !== sessionId)
  }

  async function respond(request: PendingRequest, decision: Decision): Promise<void> {
    const { request_id, input_digest } = request
    if (sent.value.has(request_id)) return
    sent.value = new Set(sent.value).add(request_id)
    setError(request_id, null)
    inFlight.add(request_id)
    try {
      await server.ask({ type: 'respond', request_id, input_digest, decision })
    } catch (error) {
      forgetSent(request_id)
      setError(request_id, refusalText(error))
    } finally {
      inFlight.delete(request_id)
    }
  }

  async function changeClock(
    request: PendingRequest,
    change: 'hold' | 'resume_clock' | 'extend',
  ): Promise<void> {
    const { request_id } = request
    try {
      if (change === 'extend') await server.ask({ type: change, request_id, seconds: 300 })
      else await server.ask({ type: change, request_id })
    } catch (error) {
      setError(request_id, refusalText(error))
    }
  }

  function refusalText(error: unknown): string {
    if (error instanceof RefusedError && error.outcome !== null) {
      return `This was decided already: ${outcomeText(error.outcome, server.isOwnClient)}.`
    }
    return errorText(error)
  }

  function forgetSent(requestId: string): void {
    const rest = new Set(sent.value)
    rest.delete(requestId)
    sent.value = rest
  }

  /** An error about a request that is no longer shown has nowhere to stand. */
  function setError(requestId: string, text: string | null): void {
    const next = new Map(errors.value)
    const isOpen = open.value.some(({ request_id }) => request_id === requestId)
    if (text === null || !isOpen) next.delete(requestId)
    else next.set(requestId, text)
    errors.value = next
  }

  return {
    open,
    closed,
    sent,
    errors,
    seen,
    count,
    bySession,
    ofSession,
    replaceAll,
    markSeen,
    put,
    refresh,
    close,
    removeSession,
    respond,
    changeClock,
  }
})
