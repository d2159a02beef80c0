import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'

import type { ConnectionStatus } from '../connection/connection'
import { UnansweredError } from '../connection/errors'
import { proven } from '../connection/proof'
import type { Ack, AgentInfo, ClientMessage, Defaults, Welcome } from '../protocol.gen'
import { isStringList, readJson, writeJson } from './storage'

/** What the stores need of a connection. */
export interface Asker {
  ask(message: ClientMessage, timeout?: number): Promise<Ack>
  connect(): void
}

const OWN_CLIENTS = 'sayso.own_clients'
const OWN_CLIENTS_KEPT = 100

/** The server as this page knows it: how it is reached, and what it said of itself. */
export const useServer = defineStore('server', () => {
  const status = ref<ConnectionStatus>('connecting')
  /** When the next attempt to connect is due, by this machine's clock. */
  const retryAt = ref(0)
  const version = ref('')
  const agents = shallowRef<AgentInfo[]>([])
  const defaults = shallowRef<Defaults | null>(null)
  /** A tab gets a new id with each connection; a decision under any of them was made here. */
  const ownClients = ref<string[]>(readJson(sessionStorage, OWN_CLIENTS, isStringList) ?? [])
  /** Not let in, until the server has said otherwise: a new try shows nothing before it succeeds. */
  const barred = ref(false)
  /** False until the first snapshot: nothing is known yet, which is not the same as empty. */
  const known = computed(() => defaults.value !== null)
  /** The page was opened and the server could not be reached: nothing is known, and nothing can be done. */
  const openedOffline = ref(false)
  let connection: Asker | null = null

  watch(
    status,
    (now) => {
      if (now === 'unauthorized') barred.value = true
      else if (now === 'connected') barred.value = false
    },
    { flush: 'sync' },
  )
  watch(
    retryAt,
    () => {
      if (!known.value) openedOffline.value = true
    },
    { flush: 'sync' },
  )

  function attach(asker: Asker): void {
    connection = asker
  }

  function welcomed(welcome: Welcome): void {
    version.value = welcome.server_version
    agents.value = welcome.agents
    defaults.value = welcome.defaults
    if (!ownClients.value.includes(welcome.client_id)) {
      ownClients.value = [...ownClients.value, welcome.client_id].slice(-OWN_CLIENTS_KEPT)
      writeJson(sessionStorage, OWN_CLIENTS, ownClients.value)
    }
  }

  function ask(message: ClientMessage, timeout?: number): Promise<Ack> {
    return proven(
      () => connection?.ask(message, timeout) ?? Promise.reject(new UnansweredError('offline')),
    )
  }

  function reconnect(): void {
    connection?.connect()
  }

  function agent(name: string): AgentInfo | null {
    return agents.value.find((info) => info.agent === name) ?? null
  }

  function isOwnClient(clientId: string): boolean {
    return ownClients.value.includes(clientId)
  }

  return {
    status,
    barred,
    openedOffline,
    retryAt,
    version,
    agents,
    defaults,
    ownClients,
    known,
    attach,
    welcomed,
    ask,
    reconnect,
    agent,
    isOwnClient,
  }
})
