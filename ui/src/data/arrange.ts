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
  decisions: readonly EntryOf<'decision'>[]
  result: EntryOf<'tool_result'> | null
  children: readonly Row[]
}

/** Work of a subagent whose call stands in a part that is not loaded. */
export interface SubagentRow {
  type: 'subagent'
  seq: number
  children: readonly Row[]
}

/** Rows are never changed: one that becomes different is replaced, all others stay the same. */
export type Row = PlainRow | ToolRow | SubagentRow

/** A place in the tree, which remembers its row until something in it changes. */
interface Place {
  seq: number
  /** It stands in a list: its parent's, or the outermost. */
  isPut: boolean
  parent: Call | null
  /** Null when the place shows a call with all that belongs to it. */
  entry: TranscriptEntry | null
  call: Call | null
  row: Row | null
}

/** All that names one tool call, known in whatever order it came. */
interface Call {
  use: EntryOf<'tool_use'> | null
  results: Place[]
  decisions: Place[]
  children: Place[]
  /** Where the call, or what is known of its subagent, is shown. */
  place: Place | null
}

/**
 * Turns numbered entries into rows, with what belongs to a tool call beside
 * it. Entries may be added in any order; the rows only depend on which.
 */
export class Arrangement {
  private readonly calls = new Map<string, Call>()
  private readonly top: Place[] = []
  private shown: readonly Row[] | null = []

  add(entries: readonly TranscriptEntry[]): void {
    for (const entry of entries) this.addOne(entry)
  }

  get rows(): readonly Row[] {
    this.shown ??= this.top.map(rowOf)
    return this.shown
  }

  private addOne(entry: TranscriptEntry): void {
    switch (entry.kind) {
      case 'tool_use':
        return this.addUse(entry)
      case 'tool_result': {
        const call = this.call(entry.tool_use_id)
        insert(call.results, plainPlace(entry))
        return this.settle(call)
      }
      case 'decision': {
        if (entry.tool_use_id === null) break
        const call = this.call(entry.tool_use_id)
        insert(call.decisions, plainPlace(entry))
        return this.settle(call)
      }
      default:
        break
    }
    this.put(plainPlace(entry))
  }

  private addUse(entry: EntryOf<'tool_use'>): void {
    const call = this.call(entry.tool_use_id)
    // An id that comes twice names the call that is known; the other one stands alone.
    if (call.use !== null) return this.put(plainPlace(entry))
    call.use = entry
    if (call.place !== null) this.take(call.place)
    call.place = callPlace(entry.seq, call)
    // A call comes before the work that it starts, so this can be no child of its own child.
    for (const child of call.children.filter(({ seq }) => seq <= entry.seq)) {
      this.take(child)
      this.putAt(null, child)
    }
    this.put(call.place)
    this.settle(call)
  }

  /** Results and decisions stand in their call's row, or alone while there is none. */
  private settle(call: Call): void {
    const inside = call.use === null ? [] : [...call.results.slice(0, 1), ...call.decisions]
    for (const place of [...call.results, ...call.decisions]) {
      if (!inside.includes(place)) this.put(place)
      else if (place.isPut) this.take(place)
    }
    if (call.place !== null) this.changed(call.place)
  }

  private put(place: Place): void {
    if (place.isPut) return
    const { parent_tool_use_id: id } = entryOf(place) ?? {}
    if (id === undefined) return this.putAt(null, place)
    const parent = this.call(id)
    const isLater = parent.use === null || parent.use.seq < place.seq
    this.putAt(isLater ? parent : null, place)
  }

  private putAt(parent: Call | null, place: Place): void {
    place.isPut = true
    place.parent = parent
    if (parent === null) {
      insert(this.top, place)
      this.shown = null
      return
    }
    insert(parent.children, place)
    if (parent.use === null) this.placeSubagent(parent)
    if (parent.place !== null) this.changed(parent.place)
  }

  private take(place: Place): void {
    const { parent } = place
    const list = parent === null ? this.top : parent.children
    list.splice(list.indexOf(place), 1)
    place.isPut = false
    place.parent = null
    this.shown = null
    if (parent?.use === null) this.placeSubagent(parent)
    if (parent !== null && parent.place !== null) this.changed(parent.place)
  }

  /** Without its call, a subagent's work stands where the first of it stands. */
  private placeSubagent(call: Call): void {
    const seq = call.children[0]?.seq
    if (call.place?.seq === seq) return
    if (call.place !== null) this.take(call.place)
    call.place = null
    if (seq === undefined) return
    call.place = callPlace(seq, call)
    this.putAt(null, call.place)
  }

  private changed(place: Place): void {
    for (let at: Place | null = place; at !== null; at = at.parent?.place ?? null) at.row = null
    this.shown = null
  }

  private call(id: string): Call {
    const known = this.calls.get(id)
    if (known !== undefined) return known
    const call: Call = { use: null, results: [], decisions: [], children: [], place: null }
    this.calls.set(id, call)
    return call
  }
}

/** The rows of some entries alone. */
export function arrange(entries: readonly TranscriptEntry[]): readonly Row[] {
  const arrangement = new Arrangement()
  arrangement.add(entries)
  return arrangement.rows
}

function plainPlace(entry: TranscriptEntry): Place {
  return { seq: entry.seq, isPut: false, parent: null, entry, call: null, row: null }
}

function callPlace(seq: number, call: Call): Place {
  return { seq, isPut: false, parent: null, entry: null, call, row: null }
}

function entryOf(place: Place): TranscriptEntry | null {
  return place.entry ?? place.call?.use ?? null
}

/** New entries come at the end; where an older one goes is searched. */
function insert(list: Place[], place: Place): void {
  let start = (list.at(-1)?.seq ?? 0) < place.seq ? list.length : 0
  let end = list.length
  while (start < end) {
    const middle = (start + end) >> 1
    if ((list[middle]?.seq ?? 0) < place.seq) start = middle + 1
    else end = middle
  }
  list.splice(start, 0, place)
}

function rowOf(place: Place): Row {
  place.row ??= makeRow(place)
  return place.row
}

function makeRow({ seq, entry, call }: Place): Row {
  if (call === null && entry !== null) {
    if (entry.kind !== 'tool_use') return { type: 'entry', seq, entry }
    return { type: 'tool', seq, entry, decisions: [], result: null, children: [] }
  }
  const children = call?.children.map(rowOf) ?? []
  const use = call?.use ?? null
  if (use === null) return { type: 'subagent', seq, children }
  return {
    type: 'tool',
    seq,
    entry: use,
    decisions: call?.decisions.flatMap(decisionOf) ?? [],
    result: call?.results.flatMap(resultOf)[0] ?? null,
    children,
  }
}

function decisionOf({ entry }: Place): EntryOf<'decision'>[] {
  return entry?.kind === 'decision' ? [entry] : []
}

function resultOf({ entry }: Place): EntryOf<'tool_result'>[] {
  return entry?.kind === 'tool_result' ? [entry] : []
}
