import { computed, shallowRef, watch } from 'vue'

import { recentFolders } from '../../data/folders'
import { useSessions } from '../../data/sessions'
import type { HistoryEntry } from '../../protocol.gen'
import { visible } from '../../text/visible'
import { folderText, sessionTitle } from '../session/words'
import type { HistoryFilter } from './filter'
import { ACTORS, KINDS, OUTCOMES, TIMES, toolWord } from './words'

export interface FilterOption {
  value: string
  label: string
}

/** A list that is longer helps nobody; the search finds the rest. */
const MOST = 200

const COMMON_TOOLS = ['Bash', 'Edit', 'Write', 'Read', 'WebFetch', 'WebSearch', 'AskUserQuestion']

/** What can be chosen: what Sayso knows, what was met in the history, and what is chosen already. */
export function useFilterOptions(
  filter: () => HistoryFilter,
  entries: () => readonly HistoryEntry[] | null,
) {
  const sessions = useSessions()
  const tools = shallowRef<ReadonlySet<string>>(new Set(COMMON_TOOLS))
  const folders = shallowRef<ReadonlySet<string>>(new Set())

  watch(
    entries,
    (met) => {
      tools.value = withMet(tools.value, met?.map(({ tool_name }) => tool_name) ?? [])
      folders.value = withMet(folders.value, met?.map(({ project }) => project) ?? [])
    },
    { immediate: true },
  )

  return computed(
    (): Record<keyof typeof FIXED | 'session' | 'project' | 'tool', FilterOption[]> => {
      const { session, project, tool, outcome, by, kind } = filter()
      const known = sessions.inOrder.slice(0, MOST)
      const chosen = sessions.get(session)
      const titled = chosen === null || known.includes(chosen) ? known : [...known, chosen]
      const all = new Set([...recentFolders(sessions.inOrder, MOST), ...folders.value])
      return {
        session: withChosen(
          titled.map((one) => ({
            value: one.session_id,
            label: `${sessionTitle(one)} · ${folderText(one.cwd)}`,
          })),
          session,
          () => 'A session that is gone',
        ),
        project: withChosen(
          [...all].map((value) => ({ value, label: folderText(value) })),
          project,
          folderText,
        ),
        tool: withChosen(
          [...tools.value].map((value) => ({ value, label: toolWord(value) })),
          tool,
          toolWord,
        ),
        outcome: withChosen(FIXED.outcome, outcome, visible),
        by: withChosen(FIXED.by, by, visible),
        kind: withChosen(FIXED.kind, kind, visible),
        time: FIXED.time,
      }
    },
  )
}

const FIXED = {
  outcome: options(OUTCOMES),
  by: options(ACTORS),
  kind: options(KINDS),
  time: options(TIMES),
}

function options(words: Record<string, string>): FilterOption[] {
  return Object.entries(words).map(([value, label]) => ({ value, label }))
}

/** A link may name something that this list lacks. */
function withChosen(
  all: FilterOption[],
  value: string,
  label: (value: string) => string,
): FilterOption[] {
  if (value === '' || all.some((option) => option.value === value)) return all
  return [...all, { value, label: label(value) }]
}

function withMet(known: ReadonlySet<string>, met: readonly (string | null)[]): ReadonlySet<string> {
  const fresh = met.filter((name) => name !== null && name !== '' && !known.has(name))
  return fresh.length === 0 ? known : new Set([...known, ...fresh.filter((name) => name !== null)])
}
