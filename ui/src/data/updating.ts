import { defineStore } from 'pinia'
import { ref } from 'vue'

import { getText } from '../connection/rest'
import { registerWorker } from '../connection/serviceWorker'

/** When this tab replaced itself last. */
const RELOADED = 'sayso.reloaded'
/** A server that is too slow for the worker must not make it do so again and again. */
const RELOAD_PAUSE = 60_000

/** Whether this page is still of the build that the server has. */
export const useUpdating = defineStore('updating', () => {
  const isOutdated = ref(false)
  let registration: ServiceWorkerRegistration | null = null
  let checks = 0

  /** Called for each connection: the server behind it may be another build than the one before. */
  async function check(): Promise<void> {
    const isFirst = checks++ === 0
    if (await isOfAnotherBuild()) {
      // The worker has opened what it keeps. Nobody can have begun anything in a page that knew nothing until now.
      if (isFirst && mayReload()) return reload()
      isOutdated.value = true
    }
    if (registration === null) registration = await registerWorker()
    else await registration.update()
  }

  function reload(): void {
    sessionStorage.setItem(RELOADED, String(Date.now()))
    window.location.reload()
  }

  return { isOutdated, check, reload }
})

function mayReload(): boolean {
  return Date.now() - Number(sessionStorage.getItem(RELOADED)) > RELOAD_PAUSE
}

/** The document names its script, and the name holds a hash of everything. */
async function isOfAnotherBuild(): Promise<boolean> {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]')
  const name = script?.getAttribute('src') ?? null
  return name !== null && !(await getText('/')).includes(name)
}
