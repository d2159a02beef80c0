import { wantedPlace } from '../kept/place'

/** The port that a visible panel keeps open to the worker. */
export const PANEL_PORT = 'panel'

const seen = new Set<chrome.runtime.Port>()
/** Known beforehand, because a panel can only be opened at once. */
let window: number | undefined

export function isPanelSeen(): boolean {
  return seen.size > 0
}

export function watchPanels(changed: () => void): void {
  chrome.runtime.onConnect.addListener((port) => {
    if (port.name !== PANEL_PORT) return
    seen.add(port)
    changed()
    port.onDisconnect.addListener(() => {
      seen.delete(port)
      changed()
    })
  })
  const focused = (id: number | undefined): void => {
    if (id !== undefined && id !== chrome.windows.WINDOW_ID_NONE) window = id
  }
  chrome.windows.onFocusChanged.addListener(focused)
  void chrome.windows.getLastFocused().then(
    ({ id }) => focused(id),
    () => undefined,
  )
}

/**
 * Opens the side panel in this window, which browsers allow in answer to a human's press alone.
 * Where they do not count it as one, the panel opens as a tab.
 */
export async function openPanel(path: string | null, where = window): Promise<void> {
  const opened =
    where === undefined ? Promise.reject(new Error()) : chrome.sidePanel.open({ windowId: where })
  if (path !== null) await wantedPlace.write(path)
  await opened.catch(async () => {
    if (!isPanelSeen() && !(await isSidePanelOpen())) await openAsTab()
  })
}

async function isSidePanelOpen(): Promise<boolean> {
  const open = await chrome.runtime.getContexts({ contextTypes: ['SIDE_PANEL'] })
  return open.length > 0
}

async function openAsTab(): Promise<void> {
  await chrome.tabs.create({ url: chrome.runtime.getURL('panel.html') })
}
