import { computed, shallowRef, watch, type ComputedRef, type ShallowRef } from 'vue'

import { RefusedError, UnansweredError } from '../../connection/errors'
import { fromContent, toContent, type Attachment } from '../../data/attachments'
import { errorText } from '../../data/errors'
import { useMessages } from '../../data/messages'
import { useQueues } from '../../data/queues'
import { useToasts } from '../../data/toasts'
import type { QueuedMessage, Session } from '../../protocol.gen'

export interface Editing {
  messageId: string
  text: string
  /** As it was: leaving it like this is no change. */
  original: string
  attachments: readonly Attachment[]
}

export interface Queue {
  messages: ComputedRef<readonly QueuedMessage[]>
  editing: ShallowRef<Editing | null>
  edit: (message: QueuedMessage) => void
  /** Leaves the message as it was. */
  cancel: () => void
  save: () => Promise<void>
  remove: (message: QueuedMessage) => Promise<void>
  /** Brings the newest one back into the composer; false when there is none. */
  takeBack: () => boolean
}

const TOO_LATE = 'The agent has read this message already.'

/** The messages that the agent has not read yet, and what can still be done to them. */
export function useQueue(session: () => Session): Queue {
  const queues = useQueues()
  const drafts = useMessages()
  const toasts = useToasts()
  const sessionId = computed(() => session().session_id)
  const messages = computed(() => queues.get(sessionId.value))
  const editing = shallowRef<Editing | null>(null)

  function edit({ message_id, content }: QueuedMessage): void {
    const { text, attachments } = fromContent(content)
    editing.value = { messageId: message_id, text, original: text, attachments }
  }

  /** The agent did not wait for the editor. The new words go on living in the composer. */
  watch(messages, (now) => {
    const edited = editing.value
    if (edited === null) return
    if (!now.some(({ message_id }) => message_id === edited.messageId)) rescue(edited)
  })

  function rescue({ text, original, attachments }: Editing): void {
    editing.value = null
    if (text.trim() === original.trim()) return
    const note = `${TOO_LATE} Your new wording is here: send it as a message of its own.`
    drafts.insert(sessionId.value, { text, attachments }, note)
  }

  function cancel(): void {
    const edited = editing.value
    editing.value = null
    // By mistake? The arrow keys bring it back.
    if (edited && edited.text !== edited.original) drafts.remember(sessionId.value, edited.text)
  }

  async function save(): Promise<void> {
    const edited = editing.value
    if (edited === null) return
    const text = edited.text.trim()
    const message = messages.value.find(({ message_id }) => message_id === edited.messageId)
    if (message === undefined) return rescue(edited)
    if (text === '' && edited.attachments.length === 0) return remove(message)
    editing.value = null
    if (text === edited.original.trim()) return
    try {
      const content = toContent(text, edited.attachments)
      await queues.edit(sessionId.value, edited.messageId, content)
    } catch (error) {
      if (isTooLate(error)) return rescue(edited)
      // Nothing typed is lost: the editor opens again, unless another one is open by now.
      if (editing.value === null) editing.value = edited
      else drafts.insert(sessionId.value, edited)
      toasts.show(errorText(error))
    }
  }

  async function remove({ message_id, content }: QueuedMessage): Promise<void> {
    if (editing.value?.messageId === message_id) editing.value = null
    try {
      await queues.takeBack(sessionId.value, message_id)
      // By mistake? The arrow keys bring it back.
      drafts.remember(sessionId.value, fromContent(content).text)
    } catch (error) {
      toasts.show(isTooLate(error) ? TOO_LATE : errorText(error))
    }
  }

  function takeBack(): boolean {
    const newest = messages.value.at(-1)
    if (newest === undefined) return false
    void bringBack(newest)
    return true
  }

  async function bringBack(message: QueuedMessage): Promise<void> {
    try {
      await queues.takeBack(sessionId.value, message.message_id)
      drafts.insertQueued(sessionId.value, message)
    } catch (error) {
      // Without an answer it may be gone from the queue; then this is the only copy.
      const isUncertain = error instanceof UnansweredError && error.reason !== 'offline'
      if (isUncertain) drafts.insertQueued(sessionId.value, message)
      drafts.fail(sessionId.value, isTooLate(error) ? TOO_LATE : errorText(error))
    }
  }

  return { messages, editing, edit, cancel, save, remove, takeBack }
}

function isTooLate(error: unknown): boolean {
  return error instanceof RefusedError && error.code === 'already_sent'
}
