import '@ui/styles/base.css'
import '@ui/styles/menu.css'
import '@ui/styles/markdown.css'

import { refuseMadeUpInput } from '@ui/components/request/realInput'
import { KEY_HELP } from '@ui/components/shell/keys'
import { applyTheme } from '@ui/components/shell/theme'
import { proveWith } from '@ui/connection/proof'
import { useClock } from '@ui/data/clock'
import { answerWelcome, watchPresence } from '@ui/data/presence'
import { useProof } from '@ui/data/proof'
import { receive } from '@ui/data/receive'
import { useServer } from '@ui/data/server'
import { createAppRouter, loadSessionPage } from '@ui/router'
import { createPinia } from 'pinia'
import { createApp } from 'vue'
import { createWebHashHistory } from 'vue-router'

import { pairedServer } from '../kept/server'
import { connectionTo } from '../server/connect'
import { PANEL_KEYS } from './keys'
import PanelRoot from './PanelRoot.vue'
import { stayInTouch } from './stayInTouch'

applyTheme()
refuseMadeUpInput(window)
KEY_HELP.push(PANEL_KEYS)

const paired = await pairedServer.read()
// Everything that is shown belongs to one server: with another one it starts afresh.
pairedServer.watch(() => window.location.reload())

const router = createAppRouter(createWebHashHistory())
const app = createApp(PanelRoot, { isPaired: paired !== null })
  .use(createPinia())
  .use(router)

if (paired !== null) {
  const server = useServer()
  const connection = connectionTo(paired, {
    receive: (message) => {
      receive(message)
      answerWelcome(message)
    },
    statusChanged: (status) => (server.status = status),
    retryPlanned: (at) => (server.retryAt = at),
  })
  server.attach(connection)
  proveWith(useProof().ask)
  useClock().start()
  watchPresence()
  connection.connect()
  const wake = (): void => {
    if (!server.barred) connection.connect()
  }
  window.addEventListener('online', wake)
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') wake()
  })
  await stayInTouch(router)
  loadSessionPage().catch(() => undefined)
}

app.mount('#app')
