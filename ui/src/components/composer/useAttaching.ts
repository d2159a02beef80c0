import { computed, ref, type ComputedRef, type Ref } from 'vue'

import { messageProblem, MOST_ATTACHMENTS, type Attachment } from '../../data/attachments'
import { errorText } from '../../data/errors'
import { useMessages } from '../../data/messages'
import { useServer } from '../../data/server'
import type { Session } from '../../protocol.gen'
import { readFile } from './readFile'

export interface Attaching {
  /** False for an agent that takes words only. */
  possible: ComputedRef<boolean>
  /** Files are being read and scaled. */
  busy: Ref<boolean>
  add: (files: Iterable<File>) => Promise<void>
}

/** Brings files into a session's draft, whichever way they came. */
export function useAttaching(session: () => Session): Attaching {
  const messages = useMessages()
  const server = useServer()
  const busy = ref(false)
  const agent = computed(() => server.agent(session().agent))
  const possible = computed(() => agent.value?.capabilities.images === true)

  async function add(files: Iterable<File>): Promise<void> {
    const { session_id } = session()
    if (!possible.value) {
      messages.fail(session_id, `${agent.value?.label ?? 'This agent'} takes no files, only text.`)
      return
    }
    const problems: string[] = []
    busy.value = true
    for (const file of files) {
      const problem = await addOne(session_id, file)
      if (problem !== null) problems.push(problem)
    }
    busy.value = false
    if (problems.length > 0) messages.fail(session_id, [...new Set(problems)].join(' '))
  }

  async function addOne(sessionId: string, file: File): Promise<string | null> {
    try {
      const attachment = await readFile(file)
      const problem = whyNot(messages.draft(sessionId).attachments, attachment)
      if (problem === null) messages.attach(sessionId, [attachment])
      return problem
    } catch (error) {
      return errorText(error)
    }
  }

  return { possible, busy, add }
}

function whyNot(present: readonly Attachment[], added: Attachment): string | null {
  if (present.length >= MOST_ATTACHMENTS)
    return `A message may have ${MOST_ATTACHMENTS} attachments.`
  const problem = messageProblem('', [...present, added])
  return problem === null ? null : `${added.name} was left out. ${problem}`
}
