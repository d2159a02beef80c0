import { own } from '../../../data/records'
import type { PermissionModeInfo } from '../../../protocol.gen'
import { visible } from '../../../text/visible'
import { isRecord } from '../../tool/present'

/** One of the agent's offers to remember, in words. */
export interface Offer {
  /** Its place among the request's suggestions. */
  index: number
  /** What would be remembered: "Allow without asking". */
  what: string
  /** The rules, folders or mode it is about, each exactly. */
  subjects: string[]
  where: string
  /** It does more than this request asks for. */
  isWide: boolean
}

const PLACES: Record<string, string> = {
  session: 'until this agent ends',
  localSettings: 'in this project, for you (.claude/settings.local.json)',
  projectSettings: 'in this project, for everybody (.claude/settings.json)',
  userSettings: 'everywhere, for you (~/.claude/settings.json)',
}

/** The offers that can be put into words; others would be remembered unread. */
export function readOffers(
  suggestions: readonly unknown[],
  modes: readonly PermissionModeInfo[],
): Offer[] {
  return suggestions.flatMap((suggestion, index) => {
    const offer = isRecord(suggestion) ? readOffer(suggestion, modes) : null
    if (offer === null || !isRecord(suggestion)) return []
    const place = String(suggestion.destination ?? '')
    const where = own(PLACES, place) ?? `in the agent's settings (${visible(place)})`
    return [{ index, where, ...offer }]
  })
}

function readOffer(
  suggestion: Record<string, unknown>,
  modes: readonly PermissionModeInfo[],
): Pick<Offer, 'what' | 'subjects' | 'isWide'> | null {
  switch (suggestion.type) {
    case 'addRules': {
      const { rules, behavior } = suggestion
      if (!Array.isArray(rules) || rules.length === 0) return null
      const subjects = rules.map(ruleText)
      const what = own(BEHAVIOURS, String(behavior))
      return what === undefined || subjects.includes(null)
        ? null
        : { what, subjects: subjects.filter((text) => text !== null), isWide: false }
    }
    case 'addDirectories': {
      const { directories } = suggestion
      if (!Array.isArray(directories) || directories.length === 0) return null
      return {
        what: 'Let the agent work in another folder',
        subjects: directories.map(String),
        isWide: true,
      }
    }
    case 'setMode': {
      const name = String(suggestion.mode)
      const mode = modes.find((info) => info.mode === name)
      // What asks nothing is never a by-product of one answer.
      if (mode === undefined || mode.dangerous) return null
      const what = `Switch to “${mode.label}”: ${mode.description}`
      return { what, subjects: [], isWide: true }
    }
    default:
      return null
  }
}

const BEHAVIOURS: Record<string, string> = {
  allow: 'Allow without asking',
  deny: 'Refuse without asking',
  ask: 'Always ask',
}

/** `Bash(npm test *)`, as rules are written. */
function ruleText(rule: unknown): string | null {
  if (!isRecord(rule) || typeof rule.toolName !== 'string') return null
  const { toolName, ruleContent } = rule
  return typeof ruleContent === 'string' ? `${toolName}(${ruleContent})` : toolName
}
