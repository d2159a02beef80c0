import {
  Bot,
  Brain,
  ClipboardList,
  FilePen,
  FilePlus,
  FileText,
  FolderOpen,
  FolderSearch,
  Globe,
  ListChecks,
  MessageCircleQuestionMark,
  NotebookPen,
  Plug,
  Search,
  Sparkles,
  SquareTerminal,
  Wrench,
} from '@lucide/vue'
import type { Component } from 'vue'

import { shortPath } from '../../text/paths'
import { visible } from '../../text/visible'
import { isRecord, summary } from './present'

/** A tool call in one line: a verb of ours, then what the agent gave it. */
export interface Description {
  icon: Component
  verb: string
  /** The essential argument, short enough for a line. */
  subject: string
  /** All of it, for the pointer that rests on it. */
  full: string
  /** Code, paths and patterns; words are set as words. */
  isCode: boolean
}

interface Known {
  icon: Component
  verb: string
  /** The input's field that says most. */
  field: string
  shows: 'path' | 'code' | 'words'
}

const KNOWN: Record<string, Known> = {
  Bash: { icon: SquareTerminal, verb: 'Run', field: 'command', shows: 'code' },
  BashOutput: { icon: SquareTerminal, verb: 'Read output of', field: 'bash_id', shows: 'code' },
  TaskOutput: { icon: SquareTerminal, verb: 'Read output of', field: 'task_id', shows: 'code' },
  KillShell: { icon: SquareTerminal, verb: 'End', field: 'shell_id', shows: 'code' },
  TaskStop: { icon: SquareTerminal, verb: 'End', field: 'task_id', shows: 'code' },
  Read: { icon: FileText, verb: 'Read', field: 'file_path', shows: 'path' },
  Write: { icon: FilePlus, verb: 'Write', field: 'file_path', shows: 'path' },
  Edit: { icon: FilePen, verb: 'Edit', field: 'file_path', shows: 'path' },
  MultiEdit: { icon: FilePen, verb: 'Edit', field: 'file_path', shows: 'path' },
  NotebookEdit: { icon: NotebookPen, verb: 'Edit', field: 'notebook_path', shows: 'path' },
  Glob: { icon: FolderSearch, verb: 'Find', field: 'pattern', shows: 'code' },
  Grep: { icon: Search, verb: 'Search', field: 'pattern', shows: 'code' },
  LS: { icon: FolderOpen, verb: 'List', field: 'path', shows: 'path' },
  WebFetch: { icon: Globe, verb: 'Fetch', field: 'url', shows: 'code' },
  WebSearch: { icon: Globe, verb: 'Search the web', field: 'query', shows: 'words' },
  TodoWrite: { icon: ListChecks, verb: 'To-dos', field: '', shows: 'words' },
  TaskCreate: { icon: ListChecks, verb: 'Add to-do', field: 'subject', shows: 'words' },
  TaskUpdate: { icon: ListChecks, verb: 'Update to-do', field: 'status', shows: 'words' },
  TaskList: { icon: ListChecks, verb: 'Read to-dos', field: '', shows: 'words' },
  Task: { icon: Bot, verb: 'Subagent', field: 'description', shows: 'words' },
  Agent: { icon: Bot, verb: 'Subagent', field: 'description', shows: 'words' },
  Skill: { icon: Sparkles, verb: 'Skill', field: 'skill', shows: 'words' },
  EnterPlanMode: { icon: ClipboardList, verb: 'Start planning', field: '', shows: 'words' },
  ExitPlanMode: { icon: ClipboardList, verb: 'Plan', field: '', shows: 'words' },
  AskUserQuestion: { icon: MessageCircleQuestionMark, verb: 'Question', field: '', shows: 'words' },
  ToolSearch: { icon: Wrench, verb: 'Look for tools', field: 'query', shows: 'words' },
}

export const THINKING_ICON = Brain

export function describe(toolName: string, input: unknown, cwd: string): Description {
  const known = Object.hasOwn(KNOWN, toolName) ? KNOWN[toolName] : undefined
  if (known === undefined) return describeOther(toolName, input)
  const { icon, verb, shows } = known
  const value = isRecord(input) ? input[known.field] : undefined
  const full = typeof value === 'string' ? value : ''
  const isCode = shows !== 'words'
  if (shows === 'path') {
    return { icon, verb, isCode, full: visible(full), subject: visible(pathIn(full, cwd)) }
  }
  return { icon, verb, isCode, full: visible(full), subject: subjectOf(toolName, input, full, cwd) }
}

function describeOther(toolName: string, input: unknown): Description {
  const { server, tool } = toolParts(toolName)
  const verb = server === null ? tool : `${tool} (${server})`
  const subject = summary(toolName, input)
  const icon = server === null ? Wrench : Plug
  return { icon, verb, subject, full: subject, isCode: true }
}

/** The server of a tool's name, as in `mcp__server__tool`, and the tool's own name. */
export function toolParts(toolName: string): { server: string | null; tool: string } {
  const [prefix, server, ...tool] = toolName.split('__')
  if (prefix !== 'mcp' || server === undefined || tool.length === 0) {
    return { server: null, tool: visible(toolName) }
  }
  return { server: visible(server), tool: visible(tool.join('__')) }
}

/** A path as the reader thinks of it: from the project's folder on, if it is in there. */
export function pathIn(path: string, cwd: string): string {
  const root = cwd.endsWith('/') ? cwd : `${cwd}/`
  return shortPath(path.startsWith(root) ? path.slice(root.length) : path, 64)
}

function subjectOf(toolName: string, input: unknown, full: string, cwd: string): string {
  if (toolName === 'TodoWrite') return todoProgress(readTodos(input))
  if (toolName === 'AskUserQuestion') return firstQuestion(input)
  if (toolName === 'TaskUpdate' && isRecord(input)) {
    const parts = [input.taskId, input.status].filter((part) => typeof part === 'string')
    return visible(parts.join(' is now '))
  }
  if (toolName === 'Grep' && isRecord(input) && typeof input.path === 'string') {
    return `${visible(full)} in ${visible(pathIn(input.path, cwd))}`
  }
  const lines = full.trim().split('\n')
  const hint = lines.length > 1 ? ` (+${lines.length - 1} more)` : ''
  return visible(lines[0] ?? '') + hint
}

export interface Todo {
  text: string
  status: 'pending' | 'in_progress' | 'completed'
}

/** The to-dos of a tool's input; empty when it has another shape. */
export function readTodos(input: unknown): Todo[] {
  if (!isRecord(input) || !Array.isArray(input.todos)) return []
  return input.todos.filter(isRecord).map((todo) => ({
    text: typeof todo.content === 'string' ? todo.content : '',
    status: todo.status === 'completed' || todo.status === 'in_progress' ? todo.status : 'pending',
  }))
}

function todoProgress(todos: readonly Todo[]): string {
  const done = todos.filter(({ status }) => status === 'completed').length
  return todos.length === 0 ? '' : `${done} of ${todos.length} done`
}

function firstQuestion(input: unknown): string {
  const questions = isRecord(input) && Array.isArray(input.questions) ? input.questions : []
  const first: unknown = questions[0]
  const text = isRecord(first) && typeof first.question === 'string' ? first.question : ''
  return visible(text) + (questions.length > 1 ? ` (+${questions.length - 1} more)` : '')
}

/** A subagent's name: its type, as the agent calls it. */
export function subagentName(input: unknown): string {
  const name = isRecord(input) ? (input.subagent_type ?? input.name) : undefined
  return typeof name === 'string' && name !== '' ? visible(name) : 'Subagent'
}

export function isSubagent(toolName: string): boolean {
  return toolName === 'Task' || toolName === 'Agent'
}
