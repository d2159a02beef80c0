import './styles/base.css'
import './styles/menu.css'
import './styles/markdown.css'

import { createPinia } from 'pinia'
import { createApp } from 'vue'

import App from './App.vue'
import { refuseMadeUpInput } from './components/request/realInput'
import { applyTheme } from './components/shell/theme'
import { checkAccess } from './connection/access'
import { socketAddress } from './connection/address'
import { Connection } from './connection/connection'
import { readPairLink, takePairLink, type PairLink } from './connection/pairLink'
import { proveWith } from './connection/proof'
import { useClock } from './data/clock'
import { usePairing } from './data/pairing'
import { useProof } from './data/proof'
import { receive } from './data/receive'
import { useServer } from './data/server'
import { createAppRouter, loadSessionPage } from './router'

applyTheme()
const link = takePairLink(window)
refuseMadeUpInput(window)
const router = createAppRouter()
const app = createApp(App).use(createPinia()).use(router)

const server = useServer()
const pairing = usePairing()
const connection = new Connection({
  url: socketAddress(window.location),
  receive,
  statusChanged: (status) => (server.status = status),
  retryPlanned: (at) => (server.retryAt = at),
  checkAccess,
})
server.attach(connection)
proveWith(useProof().ask)
useClock().start()

/** A link that is used up does not keep anybody out who is in already. */
async function letIn(link: PairLink): Promise<void> {
  const end = await pairing.start(link)
  if (end === null || (end === 'not_paired' && (await checkAccess()) !== 'granted')) return
  pairing.leave()
  connection.disconnect()
  connection.connect()
}

/** Waking up or coming back online is the moment to try, not the end of a delay. */
function wake(): void {
  if (!server.barred && pairing.way === null) connection.connect()
}

if (link === null) connection.connect()
else void letIn(link)
window.addEventListener('online', wake)
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') wake()
})
// A link that is opened in this tab changes nothing but the end of its address.
window.addEventListener('hashchange', () => {
  const link = readPairLink(window.location.hash)
  if (link === null) return
  void router.replace({ ...router.currentRoute.value, hash: '' })
  void letIn(link)
})

app.mount('#app')
// A page that was opened before an update asks for files that are gone; the new page has them.
router.onError((_error, to) => {
  if (server.status === 'connected') window.location.assign(to.fullPath)
})
loadSessionPage().catch(() => undefined)
