import {
  Check,
  Circle,
  Clock,
  Minus,
  Pencil,
  Play,
  Plus,
  Power,
  ShieldAlert,
  SlidersHorizontal,
  Undo2,
  Unplug,
  X,
} from '@lucide/vue'
import type { Component } from 'vue'

import { own } from '../../data/records'
import type { HistoryEntry } from '../../protocol.gen'
import { countText } from '../../text/amounts'
import { spelled } from '../../text/outcome'
import { visible } from '../../text/visible'

export const KINDS: Record<string, string> = {
  decision: 'Decision',
  outcome: 'What a tool did',
  alert: 'Ran unasked',
  rule: 'Rule',
  mode: 'Permission mode',
  session: 'Session',
  access: 'Access',
}

export const OUTCOMES: Record<string, string> = {
  allowed: 'Allowed',
  denied: 'Denied',
  answered: 'Answered',
  expired: 'No answer in time',
  withdrawn: 'Withdrawn',
  orphaned: 'Agent lost',
  ran: 'Ran',
  failed: 'Failed',
  added: 'Added',
  changed: 'Changed',
  removed: 'Removed',
  started: 'Started',
  ended: 'Ended',
}

export const ACTORS: Record<string, string> = {
  human: 'You',
  rule: 'A rule',
  mode: 'The permission mode',
  timeout: 'The clock',
  policy: 'Policy',
  agent: 'The agent',
  server: 'Sayso',
}

export const TIMES: Record<string, string> = {
  today: 'Today',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  range: 'From … to …',
}

export interface Mark {
  icon: Component
  word: string
  tone: 'good' | 'bad' | 'plain'
}

const ICONS: Record<string, Component> = {
  allowed: Check,
  answered: Check,
  ran: Check,
  denied: X,
  failed: X,
  expired: Clock,
  withdrawn: Undo2,
  orphaned: Unplug,
  added: Plus,
  changed: Pencil,
  removed: Minus,
  started: Play,
  ended: Power,
}

const GOOD = ['allowed', 'answered', 'ran']
const BAD = ['denied', 'failed']

/** How an entry ended, in colour and in words. A later version may have words that this one lacks. */
export function outcomeMark({ kind, outcome }: HistoryEntry): Mark {
  if (kind === 'alert') return { icon: ShieldAlert, word: 'Ran unasked', tone: 'bad' }
  if (kind === 'mode') {
    const tone = outcome === 'bypassPermissions' ? 'bad' : 'plain'
    return { icon: SlidersHorizontal, word: visible(spelled(outcome)), tone }
  }
  const tone = GOOD.includes(outcome) ? 'good' : BAD.includes(outcome) ? 'bad' : 'plain'
  return { icon: own(ICONS, outcome) ?? Circle, word: outcomeWord(outcome), tone }
}

export function outcomeWord(outcome: string): string {
  return own(OUTCOMES, outcome) ?? visible(spelled(outcome))
}

/** Tools that only ask are called by what they ask for, as everywhere else. */
const ASKING: Record<string, string> = { AskUserQuestion: 'Question', ExitPlanMode: 'Plan' }

export function toolWord(tool: string): string {
  return own(ASKING, tool) ?? visible(tool)
}

/** What the entry is about: the tool, or else what kind of thing. */
export function subjectWord({ kind, tool_name: tool }: HistoryEntry): string {
  if (tool !== null && tool !== '') return toolWord(tool)
  return own(KINDS, kind) ?? visible(spelled(kind))
}

/** Who brought it about: `You on Pixel 8`, `Rule Bash(ls:*)`. */
export function actorText({ by, by_name: name }: Pick<HistoryEntry, 'by' | 'by_name'>): string {
  const actor = own(ACTORS, by) ?? visible(spelled(by))
  if (name === '') return actor
  const named = visible(name, 'prose')
  switch (by) {
    case 'human':
      return `You on ${named}`
    case 'rule':
      return `Rule ${visible(name)}`
    case 'mode':
      return `Mode ${visible(spelled(name), 'prose')}`
    case 'policy':
      return `Policy: ${named}`
    case 'timeout':
    case 'agent':
    case 'server':
      return actor
    default:
      return `${actor} ${named}`
  }
}

/** No screen shows more of a line. */
const LONGEST_LINE = 400

/** The first line that says something, and how many more there are. */
export function oneLine(text: string): { line: string; more: string } {
  const lines = text.trimEnd().split('\n')
  const first = lines.find((line) => line.trim() !== '') ?? ''
  const line = first.length > LONGEST_LINE ? `${first.slice(0, LONGEST_LINE)}…` : first
  return { line, more: lines.length > 1 ? `+${countText(lines.length - 1, 'line')}` : '' }
}

/** What a list says of an entry: questions, plans and forms are kept as JSON, and say what they ask. */
export function entryLine({ tool_name: tool, text }: HistoryEntry): { line: string; more: string } {
  const asked = text.startsWith('{') ? askedIn(tool, text) : ''
  return asked === '' ? oneLine(text) : { line: oneLine(asked).line, more: '' }
}

function askedIn(tool: string | null, json: string): string {
  if (tool === 'AskUserQuestion') return fieldIn(json, 'question')
  if (tool === 'ExitPlanMode') return fieldIn(json, 'plan').replace(/^[#\s]+/, '')
  // A form is listed under the server that asks; a tool of a server has a longer name.
  const isForm = tool !== null && fieldIn(json, 'mcp_server_name') === tool
  return isForm ? fieldIn(json, 'message') : ''
}

/** The first text of this name. The JSON of a list may be cut off anywhere, so it is not parsed as a whole. */
function fieldIn(json: string, name: string): string {
  const text = new RegExp(`"${name}":"((?:[^"\\\\]|\\\\.)*)`).exec(json)?.[1] ?? ''
  try {
    return String(JSON.parse(`"${text}"`))
  } catch {
    return ''
  }
}
