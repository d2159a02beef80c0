import type { ServerMessage } from '../protocol.gen'
import { useServer } from './server'

/** Tells the server whether somebody can see this page: who looks is not notified. */
function report(): void {
  const visible = document.visibilityState === 'visible'
  // Without a connection nobody is taken to look; the next welcome leads here again.
  void useServer()
    .ask({ type: 'presence', visible })
    .catch(() => undefined)
}

export function watchPresence(): void {
  document.addEventListener('visibilitychange', report)
}

/** After each welcome the server knows of nobody who looks. */
export function answerWelcome(message: ServerMessage): void {
  if (message.type === 'welcome') report()
}
