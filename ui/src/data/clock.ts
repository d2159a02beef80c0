import { defineStore } from 'pinia'
import { computed, ref } from 'vue'

const TICK = 500

/** The server's time as seen from here, ticking. Countdowns and ages read it. */
export const useClock = defineStore('clock', () => {
  const local = ref(Date.now())
  const offset = ref(0)
  const now = computed(() => local.value + offset.value)
  let timer: ReturnType<typeof setInterval> | null = null

  function start(): void {
    timer ??= setInterval(() => {
      local.value = Date.now()
    }, TICK)
  }

  function synchronise(serverTime: string): void {
    local.value = Date.now()
    offset.value = Date.parse(serverTime) - local.value
  }

  return { now, start, synchronise }
})
