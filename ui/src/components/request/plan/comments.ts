import { isRecord } from '../../tool/present'

/** What somebody wrote beside a plan, by the index of the block. */
export type PlanComments = Record<string, string>

export interface QuotedComment {
  /** The source of the block that the comment is about. */
  quote: string
  text: string
}

/** Enough to find the place again; the agent has the rest of its own plan. */
const LONGEST_QUOTE = 8

export function isPlanComments(value: unknown): value is PlanComments {
  return isRecord(value) && Object.values(value).every((text) => typeof text === 'string')
}

/** The same comments with another text at one block; a blank one is none. */
export function withComment(comments: PlanComments, block: number, text: string): PlanComments {
  const next = { ...comments }
  if (text.trim() === '') delete next[block]
  else next[block] = text
  return next
}

/** The comments in the order of the plan, each with what it is about. */
export function quotedComments(comments: PlanComments, blocks: readonly string[]): QuotedComment[] {
  return Object.entries(comments)
    .map(([block, text]) => ({ block: Number(block), text: text.trim() }))
    .filter(({ text }) => text !== '')
    .sort((one, other) => one.block - other.block)
    .map(({ block, text }) => ({ quote: blocks[block] ?? '', text }))
}

/** What the agent reads when its plan is rejected; empty when nothing was said. */
export function rejectionText(comments: readonly QuotedComment[], reason: string): string {
  const general = reason.trim()
  if (comments.length === 0) return general
  const parts = comments.flatMap(({ quote, text }) => [...quotation(quote), text])
  const ending = general === '' ? [] : ['On the plan as a whole:', general]
  return ['Comments on the plan:', ...parts, ...ending].join('\n\n')
}

function quotation(quote: string): string[] {
  if (quote.trim() === '') return []
  const lines = quote.split('\n').map((line) => line.trimEnd())
  const shown = lines.length > LONGEST_QUOTE ? [...lines.slice(0, LONGEST_QUOTE), '[…]'] : lines
  return [shown.map((line) => `> ${line}`.trimEnd()).join('\n')]
}
