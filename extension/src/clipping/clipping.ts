import { isObject, kept } from '../kept/kept'

/** What a human takes from a page to an agent. All of it was written by the page. */
export interface Clipping {
  title: string
  /** Empty where the browser does not show the page to the extension. */
  address: string
  selection: string
  /** As a `data:` address; null where it could not be taken. */
  screenshot: string | null
}

/** The last one that was taken, until the panel has made a draft of it. */
export const clipping = kept<Clipping>(
  'session',
  'clipping',
  (value) => isObject(value) && typeof value.address === 'string',
)

/** Reads the page that the human is at. What the browser does not allow is left out. */
export async function capture(tab: chrome.tabs.Tab): Promise<Clipping> {
  const [selection, screenshot] = await Promise.all([selected(tab.id), picture(tab.windowId)])
  return { title: tab.title ?? '', address: tab.url ?? '', selection, screenshot }
}

/** The page that the human is at in this window. */
export async function currentTab(): Promise<chrome.tabs.Tab | null> {
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true })
  return tab ?? null
}

async function selected(tabId: number | undefined): Promise<string> {
  if (tabId === undefined) return ''
  try {
    const [found] = await chrome.scripting.executeScript({
      target: { tabId },
      func: () => String(getSelection() ?? ''),
    })
    return typeof found?.result === 'string' ? found.result : ''
  } catch {
    return ''
  }
}

async function picture(windowId: number): Promise<string | null> {
  try {
    return await chrome.tabs.captureVisibleTab(windowId, { format: 'jpeg', quality: 85 })
  } catch {
    return null
  }
}
