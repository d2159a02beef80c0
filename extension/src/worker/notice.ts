import type { PendingRequest, Session } from '@ui/protocol.gen'

/** What a notification says. The title is always one of Sayso's own sentences. */
export interface Notice {
  title: string
  message: string
  /** Whether a plain no is an answer to it. */
  canDeny: boolean
}

const TITLES: Record<PendingRequest['request_type'], string> = {
  tool_approval: 'Approval needed',
  plan_approval: 'A plan waits',
  ask_user_question: 'A question waits',
  elicitation: 'A question waits',
  other: 'Approval needed',
}

const DENIABLE: readonly PendingRequest['request_type'][] = ['tool_approval', 'plan_approval']

const LONGEST_NAME = 80
// Controls, and what turns the direction of a text or hides in it.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Names the tool, the project and the session, and nothing of what the agent wants to do. */
export function noticeFor(request: PendingRequest, session: Session | null): Notice {
  const tool = request.request_type === 'tool_approval' ? toolName(request.tool_name) : null
  const folder = session?.cwd.split(/[\\/]+/).findLast((part) => part !== '') ?? ''
  const title = oneLine(session?.title ?? '')
  const parts = [tool, oneLine(folder), title && `“${title}”`]
  return {
    title: TITLES[request.request_type],
    message: parts.filter(Boolean).join(' · ') || 'In a session of yours',
    canDeny: DENIABLE.includes(request.request_type),
  }
}

/** The agent names its tools; a sentence is not a name. */
function toolName(name: string): string {
  return name.length <= LONGEST_NAME && /^[\w.-]+$/.test(name) ? name : 'a tool'
}

function oneLine(text: string): string {
  const letters = [...text.replace(/\s+/g, ' ').replace(INVISIBLE, '').trim()]
  const shown = letters.slice(0, LONGEST_NAME).join('')
  return letters.length > LONGEST_NAME ? `${shown}…` : shown
}
