import { computed } from 'vue'

import { useRequestDraft } from '../../../data/requestDrafts'
import { useServer } from '../../../data/server'
import { isString } from '../../../data/storage'
import type { Decision, PendingRequest, Session } from '../../../protocol.gen'
import { isRecord } from '../../tool/present'
import { isPlanComments, quotedComments, rejectionText, type PlanComments } from './comments'
import { sourceBlocks } from './planBlocks'
import { usePlanModes } from './usePlanModes'

/** What somebody makes of a plan until they decide, and the decisions it leads to. */
export function usePlan(request: PendingRequest, session: () => Session) {
  const server = useServer()
  const { request_id: id, tool_input } = request
  const input = isRecord(tool_input) ? tool_input : {}
  const { plan, planFilePath, ...rest } = input
  const file = isString(planFilePath) ? planFilePath : null
  const others = file === null && planFilePath !== undefined ? { planFilePath, ...rest } : rest
  const text = isString(plan) ? plan : ''

  const edited = useRequestDraft(id, 'plan', text, isString)
  const comments = useRequestDraft<PlanComments>(id, 'comments', {}, isPlanComments)
  const reason = useRequestDraft(id, 'reason', '', isString)
  const modes = usePlanModes(request, session)

  const capabilities = computed(() => server.agent(session().agent)?.capabilities ?? null)
  const canComment = computed(() => capabilities.value?.deny_message !== false)
  const canStop = computed(() => capabilities.value?.interrupt !== false)
  const canEdit = computed(() => capabilities.value?.edit_input !== false)
  const isEdited = computed(() => canEdit.value && edited.value !== text)
  const canApprove = computed(() =>
    isEdited.value ? edited.value.trim() !== '' : request.input_faithful,
  )
  const blocks = computed(() => sourceBlocks(text))
  const quoted = computed(() =>
    canComment.value ? quotedComments(comments.value, blocks.value) : [],
  )

  function approval(): Decision {
    return {
      behavior: 'allow',
      ...(modes.chosen.value === '' ? {} : { permission_mode: modes.chosen.value }),
      ...(isEdited.value ? { updated_input: { ...input, plan: edited.value } } : {}),
    }
  }

  function rejection(): Decision {
    const message = canComment.value ? rejectionText(quoted.value, reason.value) : ''
    return { behavior: 'deny', ...(message === '' ? {} : { message }) }
  }

  return {
    ...{ text, file, others, edited, comments, reason, modes, quoted },
    ...{ canComment, canStop, canEdit, canApprove, isEdited },
    ...{ approval, rejection },
  }
}
