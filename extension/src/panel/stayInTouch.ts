import type { Router } from 'vue-router'

import { wantedPlace } from '../kept/place'
import { PANEL_PORT } from '../worker/panels'

const AGAIN_AFTER = 1000

/** Lets the worker know while this panel can be seen, and goes where a notification leads. */
export async function stayInTouch(router: Router): Promise<void> {
  keepPort()
  const go = (place: string | null): void => {
    if (place === null) return
    void wantedPlace.forget()
    void router.push(place)
  }
  wantedPlace.watch(go)
  go(await wantedPlace.read())
}

function keepPort(): void {
  let port: chrome.runtime.Port | null = null

  const connect = (): void => {
    if (port !== null || document.visibilityState !== 'visible') return
    port = chrome.runtime.connect({ name: PANEL_PORT })
    // The browser has stopped the worker; it is started again by the next call.
    port.onDisconnect.addListener(() => {
      port = null
      setTimeout(connect, AGAIN_AFTER)
    })
  }

  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') return connect()
    port?.disconnect()
    port = null
  })
  connect()
}
