import { onBeforeUnmount, onMounted, ref, shallowRef, type Ref, type ShallowRef } from 'vue'

import { pairedServer, type PairedServer } from '../kept/server'
import { workerState, type WorkerState } from '../kept/state'

/** The server, and what the worker says about the connection to it, as they change. */
export function usePairedServer(): {
  server: ShallowRef<PairedServer | null>
  state: ShallowRef<WorkerState | null>
  /** False until the browser's storage was read. */
  isKnown: Ref<boolean>
} {
  const server = shallowRef<PairedServer | null>(null)
  const state = shallowRef<WorkerState | null>(null)
  const isKnown = ref(false)
  const stops: (() => void)[] = []

  onMounted(async () => {
    stops.push(pairedServer.watch((now) => (server.value = now)))
    stops.push(workerState.watch((now) => (state.value = now)))
    server.value = await pairedServer.read()
    state.value = await workerState.read()
    isKnown.value = true
  })
  onBeforeUnmount(() => stops.forEach((stop) => stop()))

  return { server, state, isKnown }
}
