import './styles/base.css'
import './styles/markdown.css'

import { createPinia } from 'pinia'
import { createApp } from 'vue'

import App from './App.vue'
import { applyTheme } from './components/shell/theme'
import { checkAccess } from './connection/access'
import { socketAddress } from './connection/address'
import { Connection } from './connection/connection'
import { useClock } from './data/clock'
import { receive } from './data/receive'
import { useServer } from './data/server'
import { createAppRouter } from './router'

applyTheme()
const app = createApp(App).use(createPinia()).use(createAppRouter())

const server = useServer()
const connection = new Connection({
  url: socketAddress(window.location),
  receive,
  statusChanged: (status) => (server.status = status),
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
