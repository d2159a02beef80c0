import type { EntryOf } from '../../data/arrange'
import { countText } from '../../text/amounts'
import { diffLines, type Hunk } from '../../text/lines'
import { durationText } from '../../text/time'
import { isRecord, present } from './present'

type Result = EntryOf<'tool_result'>

/** What the agent tells its model in place of an empty output. */
const NOTHING_WRITTEN = '(Bash completed with no output)'

/** The text of a result, without what the agent wraps errors in for its model. */
export function resultText(result: Result): string {
  const texts = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  const text = texts.join('\n')
  if (text === NOTHING_WRITTEN) return ''
  return text.replace(/^<tool_use_error>([\s\S]*)<\/tool_use_error>$/, '$1')
}

/** What a command wrote, apart; null when the agent did not say it apart. */
export function streams(result: Result): { stdout: string; stderr: string } | null {
  const { structured } = result
  if (!isRecord(structured) || typeof structured.stdout !== 'string') return null
  const stderr = typeof structured.stderr === 'string' ? structured.stderr : ''
  return { stdout: structured.stdout, stderr }
}

/** A tool may well have done its work and have nothing to show. */
export function isEmptyResult(result: Result): boolean {
  if (result.content.some(({ type }) => type !== 'text')) return false
  const { stdout = '', stderr = '' } = streams(result) ?? {}
  return resultText(result) + stdout + stderr === ''
}

/** The change that a tool made to a file: as it reports it, or else as its input asked for it. */
export function changeOf(toolName: string, input: unknown, result: Result | null): Hunk[] {
  const reported = result === null ? null : readPatch(result.structured)
  if (reported !== null) return reported
  const { replacements, content } = present(toolName, input)
  if (toolName === 'Write' && content !== null) {
    return [{ oldStart: 0, newStart: 1, lines: diffLines('', content.replace(/\n$/, '')) }]
  }
  return replacements.map(({ before, after }) => ({
    oldStart: null,
    newStart: null,
    lines: diffLines(before, after),
  }))
}

const KINDS = { '-': 'removed', '+': 'added', ' ': 'same' } as const

function readPatch(structured: unknown): Hunk[] | null {
  if (!isRecord(structured) || !Array.isArray(structured.structuredPatch)) return null
  const hunks = structured.structuredPatch.filter(isRecord)
  // A new file has no patch, only its content.
  if (hunks.length === 0) return null
  return hunks.map((hunk) => ({
    oldStart: typeof hunk.oldStart === 'number' ? hunk.oldStart : null,
    newStart: typeof hunk.newStart === 'number' ? hunk.newStart : null,
    lines: (Array.isArray(hunk.lines) ? hunk.lines : []).map(String).flatMap((line) => {
      const kind = KINDS[line.charAt(0) as keyof typeof KINDS]
      // Such as "\ No newline at end of file".
      return kind === undefined ? [] : [{ kind, text: line.slice(1) }]
    }),
  }))
}

export function changeCounts(hunks: readonly Hunk[]): { added: number; removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines)
  return {
    added: lines.filter(({ kind }) => kind === 'added').length,
    removed: lines.filter(({ kind }) => kind === 'removed').length,
  }
}

/** How a call went, in a word or two for its line; empty when there is nothing to add. */
export function briefResult(toolName: string, result: Result): string {
  if (result.is_error) return ''
  const { structured } = result
  const known = isRecord(structured) ? structured : {}
  const numberOf = (key: string) => (typeof known[key] === 'number' ? known[key] : null)
  switch (toolName) {
    case 'Read': {
      const file = isRecord(known.file) ? known.file : {}
      if (typeof file.numLines === 'number') return countText(file.numLines, 'line')
      if (result.content.some(({ type }) => type === 'image')) return 'picture'
      return countText(lineCount(resultText(result)), 'line')
    }
    case 'Glob':
      return countText(numberOf('numFiles') ?? lineCount(resultText(result)), 'file')
    case 'Grep': {
      const matches = numberOf('numMatches')
      if (matches !== null) return countText(matches, 'match', 'matches')
      const lines = numberOf('numLines')
      if (known.mode === 'content' && lines !== null) return countText(lines, 'line')
      const files = numberOf('numFiles')
      return files === null ? '' : countText(files, 'file')
    }
    case 'WebFetch':
      return numberOf('code') === null ? '' : String(numberOf('code'))
    case 'WebSearch':
      return Array.isArray(known.results) ? countText(known.results.length, 'result') : ''
    case 'Task':
    case 'Agent': {
      if (known.isAsync === true) return 'in the background'
      const duration = numberOf('totalDurationMs')
      return duration === null ? '' : durationText(duration)
    }
    default:
      return ''
  }
}

function lineCount(text: string): number {
  return text === '' ? 0 : text.trimEnd().split('\n').length
}
