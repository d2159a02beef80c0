import { own } from '../../data/records'
import type { PendingRequest } from '../../protocol.gen'
import { visible } from '../../text/visible'

/** What the request is, in Sayso's words; never in the agent's. */
export function headline(request: PendingRequest): string {
  switch (request.request_type) {
    case 'ask_user_question':
      return 'Answer a question'
    case 'plan_approval':
      return 'Approve a plan'
    case 'elicitation':
      return request.mcp_server === null
        ? 'A tool server asks for information'
        : `The tool server ${visible(request.mcp_server)} asks for information`
    case 'other':
      return 'A request this version does not know'
    case 'tool_approval':
      return toolHeadline(request.tool_name)
  }
}

const HEADLINES: Record<string, string> = {
  Bash: 'Run a command',
  Write: 'Write a file',
  Edit: 'Edit a file',
  MultiEdit: 'Edit a file',
  NotebookEdit: 'Edit a notebook',
  Read: 'Read a file',
  WebFetch: 'Fetch a web page',
  WebSearch: 'Search the web',
}

function toolHeadline(toolName: string): string {
  const known = own(HEADLINES, toolName)
  if (known !== undefined) return known
  const [prefix, server, ...tool] = toolName.split('__')
  if (prefix === 'mcp' && server !== undefined && tool.length > 0) {
    return `Use ${visible(tool.join('__'))} of the tool server ${visible(server)}`
  }
  return `Use the tool ${visible(toolName)}`
}
