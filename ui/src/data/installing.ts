import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'

/** Chromium's offer to install a page; the language's types do not have it. */
interface InstallOffer extends Event {
  prompt(): Promise<unknown>
  readonly userChoice: Promise<{ outcome: 'accepted' | 'dismissed' }>
}

/** Sayso as an app of its own, where the browser offers that. */
export const useInstalling = defineStore('installing', () => {
  const offer = shallowRef<InstallOffer | null>(null)
  const isInstalled = ref(false)

  /** The browser makes its offer once, early, and to whoever listens then. */
  function listen(): void {
    window.addEventListener('beforeinstallprompt', (event) => {
      // Sayso asks in its settings, and not over what is being read.
      event.preventDefault()
      offer.value = event as InstallOffer
    })
    window.addEventListener('appinstalled', () => {
      offer.value = null
      isInstalled.value = true
    })
  }

  async function install(): Promise<void> {
    const asked = offer.value
    // It can be used once, whatever comes of it.
    offer.value = null
    await asked?.prompt()
  }

  return { isOffered: computed(() => offer.value !== null), isInstalled, listen, install }
})
