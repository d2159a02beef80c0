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
import { useClock } from './data/clock'
import { receive } from './data/receive'
import { useServer } from './data/server'
import { createAppRouter, loadSessionPage } from './router'

applyTheme()
refuseMadeUpInput(window)
const router = createAppRouter()
const app = createApp(App).use(createPinia()).use(router)

const server = useServer()
const connection = new Connection({
  url: socketAddress(window.location),
  receive,
  statusChanged: (status) => (server.status = status),
  retryPlanned: (at) => (server.retryAt = at),
  checkAccess,
})
server.attach(connection)
useClock().start()
connection.connect()
// Waking up or coming back online is the moment to try, not the end of a delay.
window.addEventListener('online', () => connection.connect())
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') connection.connect()
})

app.mount('#app')
// A page that was opened before an update asks for files that are gone; the new page has them.
router.onError((_error, to) => {
  if (server.status === 'connected') window.location.assign(to.fullPath)
})
loadSessionPage().catch(() => undefined)
