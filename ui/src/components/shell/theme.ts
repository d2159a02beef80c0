import { ref, watchEffect } from 'vue'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'sayso.theme'

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY)
    return value === 'light' || value === 'dark' ? value : 'system'
  } catch {
    return 'system'
  }
}

export const theme = ref<Theme>(stored())

/** Keeps the document in the chosen theme; `system` leaves it to the browser. */
export function applyTheme(): void {
  const bars = readBarColours()
  watchEffect(() => {
    if (theme.value === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme.value
    for (const { element, scheme } of bars) {
      element.content = bars.find((bar) => bar.scheme === chosen(scheme))?.colour ?? element.content
    }
    try {
      localStorage.setItem(KEY, theme.value)
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  })
}

function chosen(scheme: string): string {
  return theme.value === 'system' ? scheme : theme.value
}

/** The colour of the bar around an installed app, as the document names it for each scheme. */
function readBarColours(): { element: HTMLMetaElement; scheme: string; colour: string }[] {
  const elements = document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')
  return [...elements].map((element) => ({
    element,
    scheme: element.media.includes('dark') ? 'dark' : 'light',
    colour: element.content,
  }))
}
