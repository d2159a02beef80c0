import './styles/base.css'
import './styles/menu.css'
import './styles/markdown.css'

import { createPinia } from 'pinia'
import { createApp, watch } from 'vue'

import App from './App.vue'
import { refuseMadeUpInput } from './components/request/realInput'
import { applyTheme } from './components/shell/theme'
import { checkAccess } from './connection/access'
import { socketAddress } from './connection/address'
import { Connection } from './connection/connection'
import { readPairLink, takePairLink, type PairLink } from './connection/pairLink'
import { proveWith } from './connection/proof'
import { workers } from './connection/serviceWorker'
import { useClock } from './data/clock'
import { useInstalling } from './data/installing'
import { usePairing } from './data/pairing'
import { answerWelcome, watchPresence } from './data/presence'
import { useProof } from './data/proof'
import { usePush } from './data/push'
import { receive } from './data/receive'
import { useServer } from './data/server'
import { useUpdating } from './data/updating'
import { takeWanted } from './data/wanted'
import { isOpenMessage } from './service-worker/messages'
import { createAppRouter, loadSessionPage } from './router'

applyTheme()
refuseMadeUpInput(window)
const link = takePairLink(window)
const router = createAppRouter()
const app = createApp(App).use(createPinia()).use(router)

const server = useServer()
const pairing = usePairing()
const connection = new Connection({
  url: socketAddress(window.location),
  receive: (message) => {
    receive(message)
    answerWelcome(message)
  },
  statusChanged: (status) => (server.status = status),
  retryPlanned: (at) => (server.retryAt = at),
  checkAccess,
})
server.attach(connection)
proveWith(useProof().ask)
useClock().start()
useInstalling().listen()
watchPresence()

/** A link that is used up does not keep anybody out who is in already. */
async function letIn(link: PairLink): Promise<void> {
  const end = await pairing.start(link)
  if (end === null || (end === 'not_paired' && (await checkAccess()) !== 'granted')) return
  await goOn()
  pairing.leave()
  connection.disconnect()
  connection.connect()
}

/** Links that let somebody in lead to the start page; whoever wanted another one goes on to it. */
async function goOn(): Promise<void> {
  await router.isReady()
  const wanted = takeWanted(Date.now())
  if (wanted !== null && router.currentRoute.value.name === 'inbox') await router.replace(wanted)
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

// Whoever chose a notification is led here by the worker.
workers()?.addEventListener('message', ({ data }) => {
  if (isOpenMessage(data)) void router.push(data.path)
})
watch(
  () => server.status,
  (status) => {
    if (status !== 'connected') return
    // Without a worker there are no push messages and no app offline; the settings say so.
    void useUpdating()
      .check()
      .then(() => usePush().repair())
      .catch(() => undefined)
  },
)

app.mount('#app')
// A page that was opened before an update asks for files that are gone; the new page has them.
router.onError((_error, to) => {
  if (server.status === 'connected') window.location.assign(to.fullPath)
})
loadSessionPage().catch(() => undefined)
