import type { AgentRule, AgentRules } from '../protocol.gen'
import { useServer } from './server'

/** What the agent of a session itself goes by. Only an agent that runs can say it. */
export async function listAgentRules(sessionId: string): Promise<readonly AgentRule[]> {
  const { data } = await useServer().ask({ type: 'list_agent_rules', session_id: sessionId })
  if (!isAgentRules(data)) throw new Error('The agent did not say which rules it has.')
  return data.rules
}

function isAgentRules(data: unknown): data is AgentRules {
  return typeof data === 'object' && data !== null && 'rules' in data && Array.isArray(data.rules)
}
