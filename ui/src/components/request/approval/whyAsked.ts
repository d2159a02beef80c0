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

/** Why a human is asked: the agent's reason, or the kind of reason in our words. */
export function whyAsked(request: PendingRequest): string {
  const { decision_reason: reason, decision_reason_type: kind } = request
  if (reason !== null && reason.trim() !== '') return reason
  if (request.requires_user_interaction) return 'only you can answer it.'
  return REASONS[kind ?? ''] ?? 'no rule allows it yet.'
}
