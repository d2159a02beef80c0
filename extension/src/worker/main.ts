import { capture, clipping } from '../clipping/clipping'
import { pairedServer } from '../kept/server'
import { ServerLink } from './link'
import { DENY, Notices } from './notices'
import { isPanelSeen, openPanel, watchPanels } from './panels'

const RECONNECT = 'reconnect'
const SEND = 'send-to-agent'
const SEND_COMMAND = 'send-page'
/** The shortest that browsers allow. */
const EVERY_MINUTES = 0.5

const notices = new Notices()
const tellNow = (): void => void notices.follow(link.now, isPanelSeen())
const link = new ServerLink(tellNow)

/** Browsers stop a worker that nobody calls; each of these starts it, and it connects again. */
async function start(): Promise<void> {
  link.follow(await pairedServer.read())
  link.wake()
}

chrome.runtime.onInstalled.addListener(({ reason }) => {
  chrome.contextMenus.removeAll(() => {
    chrome.contextMenus.create({
      id: SEND,
      title: 'Send to agent',
      contexts: ['page', 'selection', 'image', 'link'],
      documentUrlPatterns: ['http://*/*', 'https://*/*', 'file:///*'],
    })
  })
  if (reason === 'install') void chrome.runtime.openOptionsPage()
})
chrome.runtime.onStartup.addListener(() => void start())
chrome.alarms.onAlarm.addListener(() => void start())
void chrome.alarms.create(RECONNECT, { periodInMinutes: EVERY_MINUTES })
pairedServer.watch((server) => link.follow(server))
watchPanels(tellNow)

/** The page goes into a draft, which the human reads and sends. */
async function send(tab: chrome.tabs.Tab): Promise<void> {
  // First of all: it must follow the human's press at once.
  const opened = openPanel(null, tab.windowId)
  await clipping.write(await capture(tab))
  await opened
}

// A panel that browsers open by themselves brings no right to see the page; a click that is told does.
chrome.action.onClicked.addListener(({ windowId }) => void openPanel(null, windowId))
chrome.contextMenus.onClicked.addListener(({ menuItemId }, tab) => {
  if (menuItemId === SEND && tab !== undefined) void send(tab)
})
chrome.commands.onCommand.addListener((command, tab) => {
  if (command === SEND_COMMAND && tab !== undefined) void send(tab)
})

function placeOf(requestId: string): string {
  const request = link.now.requests.find(({ request_id }) => request_id === requestId)
  return request === undefined ? '/' : `/sessions/${request.session_id}?request=${requestId}`
}

function openRequest(requestId: string): void {
  void chrome.notifications.clear(requestId)
  void openPanel(placeOf(requestId))
}

/** Refuses what was told, and nothing that has come in its place. */
async function deny(requestId: string): Promise<void> {
  const request = link.now.requests.find(({ request_id }) => request_id === requestId)
  if (request === undefined) return
  const { request_id, input_digest } = request
  try {
    await link.ask({ type: 'respond', request_id, input_digest, decision: { behavior: 'deny' } })
  } catch {
    // It still waits, or somebody was faster: the panel says which.
    await openPanel(placeOf(requestId))
  }
}

chrome.notifications.onClicked.addListener(openRequest)
chrome.notifications.onButtonClicked.addListener((requestId, button) => {
  if (button === DENY) void deny(requestId)
  else openRequest(requestId)
})

// Nothing of the extension runs in pages; should that ever change, the token is not for it.
void chrome.storage.local.setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' })
void start()
