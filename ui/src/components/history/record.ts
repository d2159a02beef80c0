import type { HistoryEntry, Risk } from '../../protocol.gen'
import { agentWords, isRecord } from '../tool/present'

/** What a decision's record says, as far as it says it. The record itself is shown as well. */
export interface DecisionRecord {
  requestType: string
  toolName: string
  toolInput: unknown
  digest: string | null
  toolUseId: string | null
  agentLabel: string | null
  askedAt: string | null
  /** The agent's own words. */
  words: readonly string[]
  /** Why the agent asked. */
  askedBecause: string | null
  risks: readonly Risk[]
  /** What ran in place of what was asked; null when nothing was changed. */
  ran: unknown
  answers: unknown
  notes: Record<string, string>
  /** What was filled into a form. */
  content: unknown
  /** The reason that was given for it. */
  message: string | null
  latency: number | null
}

/**
 * Reads a record of whatever version. Null when it is of another kind, and
 * then there is only the record as it is.
 */
export function readDecision(entry: HistoryEntry, record: unknown): DecisionRecord | null {
  if (!isRecord(record) || !isRecord(record.request)) return null
  const { request } = record
  if (!('tool_input' in request)) return null
  const decision = isRecord(record.decision) ? record.decision : {}
  // What stood beside the input on the card is a part of its own.
  const shown = isRecord(record.shown) ? record.shown : {}
  const toolName = text(request.tool_name) ?? entry.tool_name ?? ''
  return {
    requestType: text(request.request_type) ?? '',
    toolName,
    toolInput: request.tool_input,
    digest: text(request.input_digest),
    toolUseId: text(request.tool_use_id),
    agentLabel: text(shown.agent_label),
    askedAt: time(request.created_at),
    words: agentWords(toolName, request.tool_input, text(shown.title), text(shown.description)),
    askedBecause: text(shown.decision_reason),
    risks: Array.isArray(shown.risks) ? shown.risks.filter(isRisk) : [],
    ran: changedInput(request, decision),
    answers: decision.answers ?? null,
    notes: isTexts(decision.notes) ? decision.notes : {},
    content: decision.content ?? null,
    message: text(record.message) ?? text(decision.message),
    latency:
      typeof record.latency_ms === 'number' && record.latency_ms >= 0 ? record.latency_ms : null,
  }
}

/** Answers to questions come back inside of the input too; they are no change of it. */
function changedInput(
  request: Record<string, unknown>,
  decision: Record<string, unknown>,
): unknown {
  const ran = decision.updated_input ?? null
  if (ran === null || request.request_type === 'ask_user_question') return null
  return inputChanges(request.tool_input, ran).length === 0 ? null : ran
}

/** One field of an input, as it was asked for and as it ran. */
export interface FieldChange {
  field: string
  before: string
  after: string
}

/** What was changed, field by field. An input that has no fields is one. */
export function inputChanges(asked: unknown, ran: unknown): FieldChange[] {
  const hasFields = isRecord(asked) && isRecord(ran)
  const fields = hasFields ? [...new Set([...Object.keys(asked), ...Object.keys(ran)])] : ['']
  return fields
    .map((field) => ({
      field,
      before: inText(hasFields ? asked[field] : asked),
      after: inText(hasFields ? ran[field] : ran),
    }))
    .filter(({ before, after }) => before !== after)
}

function inText(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

function time(value: unknown): string | null {
  const at = text(value)
  return at === null || Number.isNaN(Date.parse(at)) ? null : at
}

function isRisk(value: unknown): value is Risk {
  return isRecord(value) && typeof value.kind === 'string' && typeof value.words === 'string'
}

function isTexts(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every((item) => typeof item === 'string')
}
