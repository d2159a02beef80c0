import type { Finding, FindingKind } from '../../protocol.gen'

export interface FindingGroup {
  kind: FindingKind
  title: string
  /** What such a thing does, for somebody who has never met one. */
  meaning: string
  findings: Finding[]
}

/** What runs programs comes first, what cannot be judged last. */
const KINDS: { kind: FindingKind; title: string; meaning: string }[] = [
  {
    kind: 'hook',
    title: 'Hooks',
    meaning: 'Commands that run by themselves when the agent starts, uses a tool or stops.',
  },
  {
    kind: 'mcp_server',
    title: 'Tool servers (MCP)',
    meaning: 'Programs that are started, or addresses that are called, to give the agent tools.',
  },
  {
    kind: 'helper',
    title: 'Helper commands',
    meaning: 'Commands that the agent runs for itself, such as one that fetches a key.',
  },
  {
    kind: 'environment',
    title: 'Environment variables',
    meaning: 'They can send your conversation elsewhere or change which programs run.',
  },
  {
    kind: 'permission',
    title: 'Permissions',
    meaning: 'They change what the agent may do without asking you.',
  },
  { kind: 'plugin', title: 'Plugins', meaning: 'Bundles with commands and hooks of their own.' },
  { kind: 'setting', title: 'Other settings', meaning: 'They change how the agent works.' },
  {
    kind: 'unreadable',
    title: 'Files that Sayso cannot read',
    meaning: 'The agent may understand them all the same. What they do is not known.',
  },
]

export function groupFindings(findings: readonly Finding[]): FindingGroup[] {
  return KINDS.map((group) => ({
    ...group,
    findings: findings.filter(({ kind }) => kind === group.kind),
  })).filter((group) => group.findings.length > 0)
}
