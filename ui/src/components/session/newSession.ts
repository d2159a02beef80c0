import { RefusedError } from '../../connection/errors'
import type { AgentInfo, Defaults, ErrorCode, StartSession } from '../../protocol.gen'

export interface NewSession {
  cwd: string
  agent: string
  mode: string
  model: string
  prompt: string
}

/** Where an error stands: beside the field it is about, or at the end of the form. */
export type FormPlace = 'cwd' | 'agent' | 'form'

/** The agent to begin with: the server's default, or the first that can run. */
export function initialAgent(agents: AgentInfo[], defaults: Defaults): string {
  const preferred = agents.find(({ agent }) => agent === defaults.agent)
  if (preferred?.available) return preferred.agent
  return agents.find(({ available }) => available)?.agent ?? defaults.agent
}

/** The mode to begin with. A dangerous one is only ever chosen by hand. */
export function initialMode(agent: AgentInfo | null, defaults: Defaults): string {
  const safe = agent?.permission_modes.filter(({ dangerous }) => !dangerous) ?? []
  const preferred = safe.find(({ mode }) => mode === defaults.permission_mode)
  return (preferred ?? safe[0])?.mode ?? defaults.permission_mode
}

export function validate(form: NewSession): { place: FormPlace; text: string } | null {
  const cwd = form.cwd.trim()
  if (cwd === '') return { place: 'cwd', text: 'Say in which folder the agent works.' }
  if (!cwd.startsWith('/') && !cwd.startsWith('~') && !/^[a-z]:[\\/]/i.test(cwd)) {
    return { place: 'cwd', text: 'Give the whole path, from the root on.' }
  }
  return null
}

export function toMessage(form: NewSession): StartSession {
  const model = form.model.trim()
  const prompt = form.prompt.trim()
  return {
    // Completing leaves a slash behind; the folder is the same without it.
    cwd: form.cwd.trim().replace(/(?<=[^/~])\/+$/, ''),
    agent: form.agent,
    permission_mode: form.mode,
    ...(model === '' ? {} : { model }),
    ...(prompt === '' ? {} : { prompt }),
  }
}

const PLACES: Partial<Record<ErrorCode, FormPlace>> = {
  folder_not_found: 'cwd',
  agent_unavailable: 'agent',
}

export function placeOf(error: unknown): FormPlace {
  return (error instanceof RefusedError ? PLACES[error.code] : undefined) ?? 'form'
}
