import { defineStore } from 'pinia'
import { shallowRef } from 'vue'

import { RefusedError } from '../connection/errors'
import type { FolderFindings, StartSession } from '../protocol.gen'
import { useSessions } from './sessions'

export type TrustAnswer = 'trust' | 'without' | 'cancel'

/** What the human is asked before a folder's own settings may count. */
export interface TrustQuestion {
  findings: FolderFindings
  /** The folder changed after the human had looked at it, so they look again. */
  changed: boolean
  /** Answered, and on its way to the server. */
  answered: boolean
}

/** The one question about trust that is on the screen, if any. */
export const useTrust = defineStore('trust', () => {
  const question = shallowRef<TrustQuestion | null>(null)
  let settle: ((answer: TrustAnswer) => void) | null = null

  function ask(findings: FolderFindings, changed: boolean): Promise<TrustAnswer> {
    settle?.('cancel')
    question.value = { findings, changed, answered: false }
    return new Promise((resolve) => (settle = resolve))
  }

  function answer(choice: TrustAnswer): void {
    if (settle === null || question.value === null) return
    // It stays on the screen until the server has taken it: the folder may have changed.
    question.value = choice === 'cancel' ? null : { ...question.value, answered: true }
    settle(choice)
    settle = null
  }

  function close(): void {
    if (settle === null) question.value = null
  }

  return { question, ask, answer, close }
})

/**
 * Starts or resumes a session. When the folder would run something by itself,
 * the human is asked first, and again if that changed while they were looking.
 * Null when they decided not to start.
 */
export async function startWithTrust(settings: StartSession): Promise<string | null> {
  const sessions = useSessions()
  const trust = useTrust()
  let attempt = settings
  try {
    for (;;) {
      try {
        return await sessions.start(attempt)
      } catch (error) {
        const findings = findingsOf(error)
        const answer = await trust.ask(findings, attempt.trust_digest !== undefined)
        if (answer === 'cancel') return null
        attempt = { ...settings, ...consent(answer, findings) }
      }
    }
  } finally {
    trust.close()
  }
}

function consent(
  answer: 'trust' | 'without',
  { digest }: FolderFindings,
): Pick<StartSession, 'trust' | 'trust_digest'> {
  return answer === 'trust' ? { trust: true, trust_digest: digest } : { trust: false }
}

/** What the folder would run, when that is why it was refused; any other error goes on. */
function findingsOf(error: unknown): FolderFindings {
  const isAboutTrust = error instanceof RefusedError && error.code === 'folder_not_trusted'
  if (isAboutTrust && error.trust !== null) return error.trust
  throw error
}
