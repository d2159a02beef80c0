import type { PendingRequest } from '../../../protocol.gen'

const REASONS: Record<string, string> = {
  rule: 'a rule of the agent says to ask.',
  hook: 'a hook of the project or of yours says to ask.',
  workingDir: 'it reaches outside of the folders that the agent works in.',
  safetyCheck: "the agent's own safety check stopped it.",
  subcommandResults: 'a part of the command is not allowed by any rule.',
  mode: 'the permission mode wants to be asked.',
  sandboxOverride: 'it wants to run outside of the sandbox.',
  asyncAgent: 'it is done by an agent in the background.',
}

const SOURCES: Record<string, string> = {
  userSettings: 'in your settings, ~/.claude/settings.json',
  projectSettings: "in the project's settings, .claude/settings.json",
  localSettings: 'in your settings of this project, .claude/settings.local.json',
  policySettings: 'in the settings of your organisation',
  flagSettings: 'given when the agent was started',
  cliArg: 'given when the agent was started',
  session: 'remembered until this agent ends',
}

/** Where the rule or the hook comes from that made the agent ask. */
export function reasonSource({ decision_reason_source: source }: PendingRequest): string | null {
  return source === null ? null : (SOURCES[source] ?? source)
}

/** Why a human is asked: the agent's reason, or the kind of reason in our words. */
export function whyAsked(request: PendingRequest): string {
  const { decision_reason: reason, decision_reason_type: kind } = request
  if (reason !== null && reason.trim() !== '') return reason
  if (request.requires_user_interaction) return 'only you can answer it.'
  return REASONS[kind ?? ''] ?? 'no rule allows it yet.'
}
