import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'

import type { ContentBlock, QueuedMessage } from '../protocol.gen'
import { useServer } from './server'

const NONE: readonly QueuedMessage[] = []

/** The messages that wait for the agent, per session, as the server last said. */
export const useQueues = defineStore('queues', () => {
  const server = useServer()
  const bySession = shallowReactive(new Map<string, readonly QueuedMessage[]>())

  function get(sessionId: string): readonly QueuedMessage[] {
    return bySession.get(sessionId) ?? NONE
  }

  function put(sessionId: string, messages: readonly QueuedMessage[]): void {
    bySession.set(sessionId, messages)
  }

  function remove(sessionId: string): void {
    bySession.delete(sessionId)
  }

  const edit = (session_id: string, message_id: string, content: ContentBlock[]) =>
    server.ask({ type: 'edit_queued', session_id, message_id, content })
  const takeBack = (session_id: string, message_id: string) =>
    server.ask({ type: 'remove_queued', session_id, message_id })

  return { bySession, get, put, remove, edit, takeBack }
})
