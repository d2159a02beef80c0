import { defineStore } from 'pinia'
import { ref, shallowReactive, watch } from 'vue'

import type { QueuedMessage, Session, StartSession } from '../protocol.gen'
import { fromContent, messageProblem, toContent, type Attachment } from './attachments'
import { errorText } from './errors'
import { useServer } from './server'
import { forget, isString, readJson, writeJson } from './storage'
import { useTranscripts } from './transcripts'
import { startWithTrust } from './trust'

export interface Sending {
  key: number
  text: string
  attachments: readonly Attachment[]
  /** The agent was at work: it goes to the queue, not to the end of the transcript. */
  queued: boolean
  /** The server has it. It is shown until the transcript has it too. */
  confirmed: boolean
}

export interface Draft {
  /** What stands in the composer. */
  text: string
  attachments: readonly Attachment[]
  /** Sent and not confirmed yet. It comes back into the composer if that fails. */
  sending: readonly Sending[]
  /** What of `sending` will stand at the end of the transcript, in words. */
  outgoing: readonly string[]
  /** Something to know that is not an error. */
  note: string | null
  error: string | null
}

export type StartChoices = Pick<StartSession, 'permission_mode' | 'model'>

const EMPTY: Draft = {
  text: '',
  attachments: [],
  sending: [],
  outgoing: [],
  note: null,
  error: null,
}
const STORAGE_PREFIX = 'sayso.draft.'
const SENT_KEPT = 100
/** Megabytes take a while on a phone's uplink. */
const UPLOAD_TIMEOUT = 120_000
/** A message that the transcript does not show by then waits somewhere else. */
const LONGEST_WAY = 3000

/**
 * What the human writes, per session. Nothing typed is lost before the server
 * has it: the text is in the browser's storage, shared by all tabs.
 */
export const useMessages = defineStore('messages', () => {
  const server = useServer()
  const transcripts = useTranscripts()
  const drafts = shallowReactive(new Map<string, Draft>())
  /** The texts that this tab sent, oldest first, for the arrow keys. */
  const sent = shallowReactive(new Map<string, readonly string[]>())
  /** The session whose composer has the focus in this tab. */
  const focused = ref<string | null>(null)
  /** The session whose draft was added to from outside its composer, and shall be seen. */
  const revealed = ref<string | null>(null)
  /** Ended sessions that are being started again with a message; others wait for it. */
  const starts = new Map<string, Promise<boolean>>()
  /** How an ended session shall go on, where the human chose otherwise than it was. */
  const choices = shallowReactive(new Map<string, StartChoices>())
  let nextKey = 1

  function draft(sessionId: string): Draft {
    return drafts.get(sessionId) ?? EMPTY
  }

  /** Brings back what an earlier page or another tab left behind. */
  function load(sessionId: string): void {
    if (drafts.has(sessionId)) return
    const text = readJson(localStorage, storageKey(sessionId), isString) ?? ''
    drafts.set(sessionId, { ...EMPTY, text })
  }

  function write(sessionId: string, text: string): void {
    change(sessionId, { text, note: null, error: null })
  }

  function attach(sessionId: string, added: readonly Attachment[]): void {
    change(sessionId, { attachments: [...draft(sessionId).attachments, ...added], error: null })
  }

  function detach(sessionId: string, key: number): void {
    const attachments = draft(sessionId).attachments.filter((attachment) => attachment.key !== key)
    change(sessionId, { attachments, error: null })
  }

  function fail(sessionId: string, error: string): void {
    change(sessionId, { error })
  }

  /** Sends the draft. A session whose agent has ended is started again with it. */
  async function send(session: Session): Promise<void> {
    const { session_id } = session
    const { attachments, sending, ...before } = draft(session_id)
    const text = before.text.trim()
    if (text === '' && attachments.length === 0) return
    const problem = messageProblem(text, attachments)
    if (problem !== null) return fail(session_id, problem)

    const queued = session.state === 'assistant_turn'
    const message = { key: nextKey++, text, attachments, queued, confirmed: false }
    remember(session_id, text)
    change(session_id, {
      ...{ text: '', attachments: [], note: null, error: null },
      sending: [...sending, message],
    })
    try {
      if (await deliver(session, message)) arrived(session_id, message)
      else bringBack(session_id, message, null)
    } catch (error) {
      bringBack(session_id, message, errorText(error))
    }
  }

  /** False when the human decided not to start the agent after all. */
  async function deliver(session: Session, message: Sending): Promise<boolean> {
    const { session_id, state } = session
    const underway = starts.get(session_id)
    if (underway !== undefined) return (await underway) && say(session_id, message)
    if (state !== 'dead') return say(session_id, message)
    return starting(session_id, startWith(session, message))
  }

  /** The agent of an ended session takes up the turn in which it was cut off, and asks again. */
  async function askAgain(session: Session): Promise<boolean> {
    const { session_id } = session
    const again = { ask_again: true }
    return starts.get(session_id) ?? starting(session_id, resume(session, again))
  }

  async function starting(sessionId: string, started: Promise<boolean>): Promise<boolean> {
    starts.set(sessionId, started)
    try {
      return await started
    } finally {
      starts.delete(sessionId)
    }
  }

  /** A first message without files goes with the start; files follow it. */
  async function startWith(session: Session, message: Sending): Promise<boolean> {
    const isPlain = message.attachments.length === 0
    if (!(await resume(session, isPlain ? { prompt: message.text } : {}))) return false
    return isPlain || say(session.session_id, message)
  }

  async function resume(
    { session_id, cwd }: Session,
    how: Partial<StartSession>,
  ): Promise<boolean> {
    const chosen = choices.get(session_id)
    const started = await startWithTrust({ cwd, resume: session_id, ...how, ...chosen })
    if (started !== null) choices.delete(session_id)
    return started !== null
  }

  async function say(session_id: string, { text, attachments }: Sending): Promise<true> {
    const content = toContent(text, attachments)
    const timeout = attachments.length === 0 ? undefined : UPLOAD_TIMEOUT
    await server.ask({ type: 'send_message', session_id, content }, timeout)
    return true
  }

  function choose(sessionId: string, choice: StartChoices): void {
    choices.set(sessionId, { ...choices.get(sessionId), ...choice })
  }

  /** Between the server's answer and the transcript nothing may vanish from the screen. */
  function arrived(sessionId: string, message: Sending): void {
    if (message.queued) return settle(sessionId, message)
    const confirmed = draft(sessionId).sending.map((other) =>
      other.key === message.key ? { ...other, confirmed: true } : other,
    )
    change(sessionId, { sending: confirmed })
    const stop = watch(
      () => transcripts.get(sessionId).entries.at(-1)?.seq,
      () => done(),
      { flush: 'sync' },
    )
    const timer = setTimeout(() => done(), LONGEST_WAY)
    function done(): void {
      stop()
      clearTimeout(timer)
      settle(sessionId, message)
    }
  }

  function settle(sessionId: string, { key }: Sending): void {
    const sending = draft(sessionId).sending.filter((message) => message.key !== key)
    change(sessionId, { sending })
  }

  function bringBack(sessionId: string, message: Sending, error: string | null): void {
    settle(sessionId, message)
    insert(sessionId, message)
    change(sessionId, { error })
  }

  /** Puts a message before whatever stands in the composer. */
  function insert(
    sessionId: string,
    message: { text: string; attachments: readonly Attachment[] },
    note: string | null = null,
  ): void {
    const { text, attachments } = draft(sessionId)
    change(sessionId, {
      text: [message.text, text].filter((part) => part !== '').join('\n'),
      attachments: [...message.attachments, ...attachments],
      note,
    })
  }

  /** Puts a message of the queue back into the composer. */
  function insertQueued(sessionId: string, { content }: QueuedMessage): void {
    insert(sessionId, fromContent(content))
  }

  function remember(sessionId: string, text: string): void {
    if (text === '') return
    sent.set(sessionId, [...(sent.get(sessionId) ?? []), text].slice(-SENT_KEPT))
  }

  function remove(sessionId: string): void {
    drafts.delete(sessionId)
    sent.delete(sessionId)
    choices.delete(sessionId)
    forget(localStorage, storageKey(sessionId))
  }

  function change(sessionId: string, part: Partial<Omit<Draft, 'outgoing'>>): void {
    const next = { ...draft(sessionId), ...part }
    const outgoing = next.sending.filter(({ queued }) => !queued).map(inWords)
    drafts.set(sessionId, { ...next, outgoing })
    const unsaid = next.sending.filter(({ confirmed }) => !confirmed)
    const texts = [...unsaid.map(({ text }) => text), next.text]
    const kept = texts.filter((text) => text !== '').join('\n')
    if (kept === '') forget(localStorage, storageKey(sessionId))
    else writeJson(localStorage, storageKey(sessionId), kept)
  }

  /**
   * Another tab wrote. Its text is taken over, except where that would take
   * words away: under the hands of somebody, or after they failed to go out.
   */
  function changedElsewhere({ storageArea, key }: StorageEvent): void {
    if (storageArea !== localStorage || key === null || !key.startsWith(STORAGE_PREFIX)) return
    const sessionId = key.slice(STORAGE_PREFIX.length)
    const known = drafts.get(sessionId)
    if (known === undefined || known.error !== null) return
    if (known.text !== '' && focused.value === sessionId) return
    const text = readJson(localStorage, key, isString) ?? ''
    drafts.set(sessionId, { ...known, text })
  }
  window.addEventListener('storage', changedElsewhere)

  return {
    ...{ drafts, sent, focused, revealed, draft, load, write, attach, detach, fail },
    ...{ send, askAgain, insert, insertQueued, remember, choices, choose, remove },
  }
})

function storageKey(sessionId: string): string {
  return STORAGE_PREFIX + sessionId
}

export function inWords(message: { text: string; attachments: readonly Attachment[] }): string {
  const names = message.attachments.map(({ name }) => `[${name}]`).join(' ')
  return [names, message.text].filter((part) => part !== '').join('\n')
}
