/** What the scripted model says: the turns of a test, as data. */

export type Block =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> }

/** One answer of the model. */
export type Turn =
  | { blocks: Block[]; stream?: StreamPace }
  | { status: number; error: { type: string; message: string }; headers?: Record<string, string> }
  | { hang: true }

export interface StreamPace {
  /** The text is cut into this many parts. */
  parts: number
  /** Each part after the first waits for this. */
  next: () => Promise<void>
}

/** A turn, or what makes it from the request (a path that only the agent knows). */
export type ScriptedTurn = Turn | ((request: MessagesRequest) => Turn)

export interface Script {
  /** The turns of the main thread, in order. */
  main: ScriptedTurn[]
  /** The turns of subagents, told apart by a text in their first message. */
  agents?: { match: string; turns: ScriptedTurn[] }[]
}

/** The part of a Messages API request that the script and the tests look at. */
export interface MessagesRequest {
  model: string
  stream?: boolean
  max_tokens: number
  system?: string | ContentBlock[]
  messages: { role: 'user' | 'assistant' | 'system'; content: string | ContentBlock[] }[]
  tools?: { name: string }[]
}

export interface ContentBlock {
  type: string
  text?: string
  id?: string
  name?: string
  input?: unknown
  tool_use_id?: string
  content?: string | ContentBlock[]
  is_error?: boolean
}

export function say(text: string): Turn {
  return { blocks: [{ type: 'text', text }] }
}

export function use(...calls: ToolCall[]): Turn {
  return { blocks: calls }
}

export type ToolCall = Extract<Block, { type: 'tool_use' }>

export function tool(id: string, name: string, input: Record<string, unknown>): ToolCall {
  return { type: 'tool_use', id, name, input }
}

export function bash(id: string, command: string, description = 'Run a command'): ToolCall {
  return tool(id, 'Bash', { command, description })
}

export function write(id: string, file: string, content: string): ToolCall {
  return tool(id, 'Write', { file_path: `$PROJ/${file}`, content })
}

export function read(id: string, file: string): ToolCall {
  return tool(id, 'Read', { file_path: `$PROJ/${file}` })
}

export function edit(id: string, file: string, before: string, after: string): ToolCall {
  return tool(id, 'Edit', { file_path: `$PROJ/${file}`, old_string: before, new_string: after })
}

export interface Question {
  question: string
  header: string
  options: { label: string; description: string }[]
  multiSelect: boolean
}

export function ask(id: string, ...questions: Question[]): ToolCall {
  return tool(id, 'AskUserQuestion', { questions })
}

export function question(
  text: string,
  header: string,
  labels: string[],
  multiSelect = false,
): Question {
  const options = labels.map((label) => ({ label, description: `${label}, described` }))
  return { question: text, header, options, multiSelect }
}

export function subagent(id: string, description: string, prompt: string): ToolCall {
  return tool(id, 'Agent', {
    description,
    prompt,
    subagent_type: 'general-purpose',
    run_in_background: false,
  })
}

/** The plain text of a message or of a tool result. */
export function plainText(content: string | ContentBlock[] | undefined): string {
  if (content === undefined) return ''
  if (typeof content === 'string') return content
  return content.map((block) => block.text ?? '').join('')
}
