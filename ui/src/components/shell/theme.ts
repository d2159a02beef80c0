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
  watchEffect(() => {
    if (theme.value === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme.value
    try {
      localStorage.setItem(KEY, theme.value)
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  })
}
