import { useMessages } from '@ui/data/messages'
import { useServer } from '@ui/data/server'
import type { Session } from '@ui/protocol.gen'

import type { Clipping } from '../clipping/clipping'
import { quote } from '../clipping/quote'
import { toAttachment } from '../clipping/screenshot'

/** Puts a page into the message that the human writes to an agent. Nothing is sent. */
export function useDraft(): {
  takesPictures: (session: Session) => boolean
  add: (session: Session, page: Clipping, withPicture: boolean) => Promise<void>
} {
  const messages = useMessages()
  const server = useServer()

  const takesPictures = (session: Session): boolean =>
    server.agent(session.agent)?.capabilities.images === true

  async function add(session: Session, page: Clipping, withPicture: boolean): Promise<void> {
    const { session_id } = session
    const { screenshot } = page
    // First what can fail: then nothing is half done.
    const picture =
      withPicture && screenshot !== null && takesPictures(session)
        ? [await toAttachment(screenshot)]
        : []
    messages.load(session_id)
    const before = messages.draft(session_id).text.trimEnd()
    messages.write(session_id, `${before === '' ? '' : `${before}\n\n`}${quote(page)}\n\n`)
    messages.attach(session_id, picture)
    messages.revealed = session_id
  }

  return { takesPictures, add }
}
