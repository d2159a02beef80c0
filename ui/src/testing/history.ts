import type { HistoryDetail, HistoryEntry } from '../protocol.gen'
import { answerFetch } from './browser'
import { SESSION } from './fixtures'

/** A command that a human allowed. */
export function makeHistoryEntry(part: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    seq: 1,
    at: '2026-01-02T03:57:00Z',
    kind: 'decision',
    session_id: SESSION,
    request_id: '00000000-0000-4000-8000-000000000101',
    project: '/srv/api',
    tool_name: 'Bash',
    outcome: 'allowed',
    by: 'human',
    by_name: 'Pixel 8',
    text: 'npm test',
    ...part,
  }
}

/** As the server writes it for a decision. */
export function makeRecord(
  request: Record<string, unknown> = {},
  rest: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    request: {
      request_type: 'tool_approval',
      tool_name: 'Bash',
      tool_input: { command: 'npm test' },
      input_digest: 'sha256:abc',
      tool_use_id: 'toolu_1',
      created_at: '2026-01-02T03:56:48Z',
      ...request,
    },
    decision: { behavior: 'allow' },
    outcome: 'allowed',
    by: 'human',
    client: { client_id: 'c', label: 'Pixel 8' },
    latency_ms: 12_000,
    ...rest,
  }
}

export interface HistoryAnswers {
  /** All of it, the newest first. */
  entries?: readonly HistoryEntry[]
  /** How many are on a page. */
  page?: number
  details?: Record<number, HistoryDetail>
  check?: unknown
}

/** Answers as the server does, apart from filtering; returns what was asked for. */
export function answerHistory(answers: HistoryAnswers): string[] {
  const asked: string[] = []
  answerFetch((url) => {
    asked.push(`${url.pathname}${url.search}`)
    if (url.pathname === '/api/history/check') return answers.check
    const seq = /^\/api\/history\/(\d+)$/.exec(url.pathname)?.[1]
    if (seq !== undefined) return answers.details?.[Number(seq)]
    if (url.pathname !== '/api/history') return undefined
    const before = Number(url.searchParams.get('before') ?? Infinity)
    const left = answers.entries?.filter((entry) => entry.seq < before)
    if (left === undefined) return undefined
    const entries = left.slice(0, answers.page ?? left.length)
    return { entries, next: entries.length < left.length ? entries.at(-1)?.seq : null }
  })
  return asked
}
