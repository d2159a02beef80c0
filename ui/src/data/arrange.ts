import type { TranscriptEntry } from '../protocol.gen'

export type EntryOf<Kind extends TranscriptEntry['kind']> = Extract<TranscriptEntry, { kind: Kind }>

/** An entry that stands for itself. */
export interface PlainRow {
  type: 'entry'
  seq: number
  entry: Exclude<TranscriptEntry, { kind: 'tool_use' }>
}

/** A tool call with all that came of it: decisions, its result, a subagent's work. */
export interface ToolRow {
  type: 'tool'
  seq: number
  entry: EntryOf<'tool_use'>
  decisions: EntryOf<'decision'>[]
  result: EntryOf<'tool_result'> | null
  children: Row[]
}

export type Row = PlainRow | ToolRow

/** Turns the numbered entries into rows, with what belongs to a tool call beside it. */
export function arrange(entries: readonly TranscriptEntry[]): Row[] {
  const tools = new Map<string, ToolRow>()
  for (const entry of entries) {
    if (entry.kind !== 'tool_use') continue
    const row = { entry, seq: entry.seq, decisions: [], result: null, children: [] }
    tools.set(entry.tool_use_id, { type: 'tool', ...row })
  }

  const rows: Row[] = []
  for (const entry of entries) {
    const row = rowOf(entry, tools)
    if (row === null) continue
    const parent = tools.get(entry.parent_tool_use_id ?? '')
    if (parent === undefined || parent === row) rows.push(row)
    else parent.children.push(row)
  }
  return rows
}

/** Null when the entry went into the row of its tool call. */
function rowOf(entry: TranscriptEntry, tools: Map<string, ToolRow>): Row | null {
  switch (entry.kind) {
    case 'tool_use':
      return tools.get(entry.tool_use_id) ?? null
    case 'tool_result': {
      const tool = tools.get(entry.tool_use_id)
      if (tool === undefined || tool.result !== null) break
      tool.result = entry
      return null
    }
    case 'decision': {
      const tool = tools.get(entry.tool_use_id ?? '')
      if (tool === undefined) break
      tool.decisions.push(entry)
      return null
    }
    case 'user_message':
    case 'assistant_text':
    case 'thinking':
    case 'notice':
    case 'turn_ended':
    case 'unknown':
      break
    default: {
      // A newer server may know more kinds; such an entry is shown as it came.
      const other: never = entry
      return { type: 'entry', seq: (other as TranscriptEntry).seq, entry: other }
    }
  }
  return { type: 'entry', seq: entry.seq, entry }
}
