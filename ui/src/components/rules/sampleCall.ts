import type { TestCall } from '../../protocol.gen'

/** The tools that can be tested, and the field of their input that rules look at. */
const FIELDS = {
  Bash: { field: 'command', label: 'Command', example: 'npm test && git push' },
  Write: { field: 'file_path', label: 'Path', example: 'src/login.ts' },
  Edit: { field: 'file_path', label: 'Path', example: 'src/login.ts' },
  Read: { field: 'file_path', label: 'Path', example: '~/.ssh/config' },
  WebFetch: { field: 'url', label: 'Address', example: 'https://example.com/docs' },
} as const

export type SampleTool = keyof typeof FIELDS

export const SAMPLE_TOOLS = Object.keys(FIELDS) as SampleTool[]

export function sampleLabel(tool: SampleTool): string {
  return FIELDS[tool].label
}

export function sampleExample(tool: SampleTool): string {
  return FIELDS[tool].example
}

/** A call as an agent would make it, as far as rules look at it. */
export function sampleCall(tool: SampleTool, subject: string, cwd: string): TestCall {
  const { field } = FIELDS[tool]
  const file = field === 'file_path' ? absolute(subject.trim(), cwd.trim()) : null
  return { tool_name: tool, tool_input: { [field]: file ?? subject }, cwd: cwd.trim() }
}

/** Agents give whole paths. */
function absolute(path: string, cwd: string): string {
  if (path.startsWith('/') || path.startsWith('~') || cwd === '') return path
  return `${cwd.replace(/\/$/, '')}/${path}`
}
