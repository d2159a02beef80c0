import type { ChannelTarget, PutChannel } from '../../protocol.gen'

/** What somebody fills in for a new channel. */
export interface ChannelDraft {
  way: 'ntfy' | 'webhook' | 'slack'
  name: string
  server: string
  topic: string
  token: string
  url: string
}

export type DraftField = Exclude<keyof ChannelDraft, 'way'>
export type DraftProblems = Partial<Record<DraftField, string>>

/** A topic that nobody guesses: whoever knows it reads along. */
export function newDraft(random: Uint8Array): ChannelDraft {
  const letters = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
  const end = [...random].map((byte) => letters[byte % letters.length]).join('')
  return {
    way: 'ntfy',
    name: '',
    server: 'https://ntfy.sh',
    topic: `sayso-${end}`,
    token: '',
    url: '',
  }
}

/** Each problem says what to write instead. The server checks once more. */
export function problemsOf(draft: ChannelDraft): DraftProblems {
  const problems: DraftProblems = {}
  if (draft.name.trim() === '') problems.name = 'Give it a name, such as “My phone”.'
  if (draft.way === 'ntfy') {
    if (!isAddress(draft.server)) problems.server = 'Write an address such as https://ntfy.sh.'
    if (!/^[\w-]{1,64}$/.test(draft.topic)) {
      problems.topic = 'Use 1 to 64 letters, digits, “-” or “_”.'
    }
    if (!/^[\x21-\x7e]{0,256}$/.test(draft.token.trim())) {
      problems.token = 'An access token of ntfy has no spaces; it begins with “tk_”.'
    }
  } else if (!isAddress(draft.url)) {
    problems.url = 'Write the whole address, beginning with https://.'
  }
  return problems
}

function isAddress(text: string): boolean {
  if (!URL.canParse(text.trim())) return false
  const { protocol, username, password, hostname } = new URL(text.trim())
  const isWeb = protocol === 'https:' || protocol === 'http:'
  return isWeb && hostname !== '' && username === '' && password === ''
}

export function channelOf(draft: ChannelDraft): PutChannel {
  return { name: draft.name.trim(), target: targetOf(draft) }
}

function targetOf(draft: ChannelDraft): ChannelTarget {
  if (draft.way === 'ntfy') {
    const token = draft.token.trim()
    const server = draft.server.trim()
    return { kind: 'ntfy', server, topic: draft.topic, ...(token === '' ? {} : { token }) }
  }
  const format = draft.way === 'slack' ? 'slack' : 'sayso'
  return { kind: 'webhook', url: draft.url.trim(), format }
}

const FIELDS: DraftField[] = ['name', 'server', 'topic', 'token', 'url']

/** The server names the field that is wrong at the beginning; what is about none of them is about all. */
export function refusalOf(text: string): DraftProblems | null {
  const name = /^`(\w+)`/.exec(text)?.[1]
  const field = FIELDS.find((known) => known === name)
  return field === undefined ? null : { [field]: text }
}
