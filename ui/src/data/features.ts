import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'

import type { CommandInfo, ModelInfo } from '../protocol.gen'

export interface Features {
  commands: readonly CommandInfo[]
  models: readonly ModelInfo[]
}

const NONE: Features = { commands: [], models: [] }

/** What each session's agent reported that it can do. */
export const useFeatures = defineStore('features', () => {
  const bySession = shallowReactive(new Map<string, Features>())

  function get(sessionId: string): Features {
    return bySession.get(sessionId) ?? NONE
  }

  function put(sessionId: string, { commands, models }: Features): void {
    bySession.set(sessionId, { commands, models })
  }

  function remove(sessionId: string): void {
    bySession.delete(sessionId)
  }

  return { bySession, get, put, remove }
})
