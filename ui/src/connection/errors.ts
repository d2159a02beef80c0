import type { ErrorCode, ErrorMessage, FolderFindings, Outcome } from '../protocol.gen'

/** The server understood the message and did not carry it out. */
export class RefusedError extends Error {
  readonly code: ErrorCode
  readonly outcome: Outcome | null
  readonly trust: FolderFindings | null
  /** With `too_many_attempts`: when the next try counts. */
  readonly retryAfterSeconds: number | null

  constructor(answer: ErrorMessage) {
    super(answer.message)
    this.name = 'RefusedError'
    this.code = answer.code
    this.outcome = answer.outcome ?? null
    this.trust = answer.trust ?? null
    this.retryAfterSeconds = answer.retry_after_seconds ?? null
  }
}

/** The message may or may not have reached the server. */
export class UnansweredError extends Error {
  readonly reason: 'offline' | 'lost' | 'timeout'

  constructor(reason: 'offline' | 'lost' | 'timeout') {
    super(TEXTS[reason])
    this.name = 'UnansweredError'
    this.reason = reason
  }
}

const TEXTS = {
  offline: 'Not connected to Sayso. Try again when the connection is back.',
  lost: 'The connection broke before Sayso confirmed this. Check before you repeat it.',
  timeout: 'Sayso did not confirm this in time. Check before you repeat it.',
}
