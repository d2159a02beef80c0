import { defineStore } from 'pinia'
import { computed, ref } from 'vue'

import { rememberedSet } from './preferences'
import { isStringList, readJson } from './storage'

/** A way to say that something waits to somebody who does not look at the page. */
export type Cue = 'sound' | 'notifications'

const KEY = 'sayso.cues'

/** The cues that this browser gives, in all of its tabs. Each is off until somebody wants it. */
export const useCues = defineStore('cues', () => {
  const on = rememberedSet(KEY)
  /** Some browsers have notifications, allow them, and refuse to show them from a page. */
  const cannotNotify = ref(false)

  window.addEventListener('storage', ({ key }) => {
    if (key === KEY) on.value = new Set(readJson(localStorage, KEY, isStringList) ?? [])
  })

  function set(cue: Cue, isOn: boolean): void {
    const next = new Set(on.value)
    if (isOn) next.add(cue)
    else next.delete(cue)
    on.value = next
  }

  return {
    sound: computed(() => on.value.has('sound')),
    notifications: computed(() => on.value.has('notifications')),
    cannotNotify,
    set,
  }
})
