import type { FileNow, Risk, RiskKind } from '../../../protocol.gen'
import { bytesText, countText } from '../../../text/amounts'
import type { EditResult } from './applyEdits'

/** `1.2 KB, 34 lines`. */
export function sizeText(text: string): string {
  if (text === '') return 'empty'
  const bytes = new TextEncoder().encode(text).length
  const size =
    bytes >= 1000 && bytes < 10_000 ? `${Math.round(bytes / 100) / 10} KB` : bytesText(bytes)
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  return `${size}, ${countText(lines, 'line')}`
}

/** `2 min`, `1 min 30 s`, `0.5 s`. */
export function limitText(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds / 1000} s`
  const seconds = Math.round(milliseconds / 1000)
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'min'],
    [seconds % 60, 's'],
  ] as const
  return parts.flatMap(([count, unit]) => (count === 0 ? [] : [`${count} ${unit}`])).join(' ')
}

/** Which part of a file is read. */
export function rangeText(offset: number | null, limit: number | null): string {
  if (offset === null || offset <= 1) {
    return limit === null ? 'The whole file' : `The first ${countText(limit, 'line')}`
  }
  if (limit === null) return `From line ${offset} on`
  return limit === 1 ? `Line ${offset}` : `Lines ${offset} to ${offset + limit - 1}`
}

/** Why a file cannot be compared with what would be written. */
export function obstacle(file: FileNow): string | null {
  const size = file.size === null ? '' : ` (${bytesText(file.size)})`
  switch (file.state) {
    case 'text':
    case 'missing':
      return null
    case 'binary':
      return `The file at this path is not text${size}.`
    case 'too_large':
      return `The file at this path is too large to compare${size}.`
    case 'not_a_file':
      return 'At this path is something that is not a file, such as a folder.'
    case 'unreadable':
      return `The file at this path cannot be read: ${file.problem ?? 'the reason is not known'}.`
  }
}

/** Why a change does not fit the file as it is now. */
export function misfit(result: Exclude<EditResult, { kind: 'applied' }>, total: number): string {
  const which = total > 1 ? `Change ${result.index + 1} of ${total}: ` : ''
  switch (result.kind) {
    case 'absent':
      return `${which}The text to replace is not in the file any more.`
    case 'ambiguous':
      return `${which}The text to replace is in the file ${result.count} times, and the agent does not say which one it means.`
    case 'occupied':
      return `${which}The file already has content, and the agent names no text to replace.`
  }
}

/** `Replaces every occurrence, 4 times`; `count` is null while it is not known. */
export function everywhereText(count: number | null): string {
  if (count === null) return 'Replaces every occurrence'
  return `Replaces every occurrence, ${count === 1 ? 'once' : `${count} times`}`
}

/** Destructive is what is hard to undo, or a way to anything that is; as the server sees it. */
const RISKS: Record<RiskKind, { label: string; isDestructive: boolean }> = {
  deletes: { label: 'deletes files', isDestructive: true },
  overwrites: { label: 'overwrites files', isDestructive: true },
  git_history: { label: 'rewrites git history', isDestructive: true },
  privilege: { label: 'runs as root', isDestructive: true },
  pipes_into_shell: { label: 'pipes into a shell', isDestructive: true },
  network: { label: 'network', isDestructive: false },
  installs: { label: 'installs', isDestructive: false },
  outside_project: { label: 'outside the project', isDestructive: false },
  protected_path: { label: 'protected path', isDestructive: true },
  long_running: { label: 'runs long', isDestructive: false },
  unknown: { label: 'not understood', isDestructive: false },
}

export interface RiskChip {
  kind: RiskKind
  label: string
  isDestructive: boolean
  /** The parts of the input that say so. */
  words: string[]
}

/** One chip for each kind, the destructive ones first. */
export function riskChips(risks: readonly Risk[]): RiskChip[] {
  const chips = new Map<RiskKind, RiskChip>()
  for (const { kind, words } of risks) {
    // A record of another version may name a kind that this one does not know.
    const chip = chips.get(kind) ?? { kind, ...(RISKS[kind] ?? RISKS.unknown), words: [] }
    if (words !== '' && !chip.words.includes(words)) chip.words.push(words)
    chips.set(kind, chip)
  }
  return [...chips.values()].sort(
    (one, other) => Number(other.isDestructive) - Number(one.isDestructive),
  )
}
