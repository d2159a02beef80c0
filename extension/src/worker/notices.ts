import { toldRequests } from '../kept/told'
import { noticeFor } from './notice'
import type { Waiting } from './waiting'

const ICON = 'icons/icon-128.png'

export const OPEN = 0
export const DENY = 1

/** Brings the notifications in step with what waits, one change after the other. */
export class Notices {
  private last: Promise<void> = Promise.resolve()

  /** `isQuiet` while somebody looks at the panel: what is new then is told when they look away. */
  follow(waiting: Waiting, isQuiet: boolean): Promise<void> {
    this.last = this.last.then(() => follow(waiting, isQuiet)).catch(console.error)
    return this.last
  }
}

async function follow(waiting: Waiting, isQuiet: boolean): Promise<void> {
  const open = new Set(waiting.requests.map(({ request_id }) => request_id))
  for (const id of Object.keys(await chrome.notifications.getAll())) {
    if (!open.has(id)) await chrome.notifications.clear(id)
  }
  const before = (await toldRequests.read()) ?? []
  const told = before.filter((id) => open.has(id))
  const fresh = isQuiet
    ? []
    : waiting.requests.filter(({ request_id }) => !told.includes(request_id))
  for (const request of fresh) {
    const session = waiting.sessions.get(request.session_id) ?? null
    const { title, message, canDeny } = noticeFor(request, session)
    const mayDeny = canDeny && waiting.me?.scopes.includes('answer') === true
    // The places of the buttons are known by their numbers.
    const buttons = mayDeny ? [{ title: 'Open' }, { title: 'Deny' }] : [{ title: 'Open' }]
    await chrome.notifications.create(request.request_id, {
      type: 'basic',
      iconUrl: chrome.runtime.getURL(ICON),
      ...{ title, message, buttons },
    })
    told.push(request.request_id)
  }
  if (fresh.length > 0 || told.length !== before.length) await toldRequests.write(told)
}
