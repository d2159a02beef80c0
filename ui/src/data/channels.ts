import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'

import { deleteJson, getJson, postJson, putJson } from '../connection/rest'
import type {
  ChangePush,
  Channel,
  ChannelSettings,
  DeliveryResult,
  MadeChannel,
  Notifications,
  PutChannel,
  SubscribePush,
} from '../protocol.gen'
import { useMe } from './me'

const PATH = '/api/notifications'

/** Where notifications go, as far as this browser is told: its own, and with `admin` all of them. */
export const useChannels = defineStore('channels', () => {
  const me = useMe()
  const listed = shallowRef<Notifications | null>(null)

  const all = computed(() => listed.value?.channels ?? [])
  const own = computed(() => all.value.find(isOwn) ?? null)
  const devices = computed(() => all.value.filter((it) => it.kind === 'web_push' && !isOwn(it)))
  const shared = computed(() => all.value.filter(({ kind }) => kind !== 'web_push'))
  const publicKey = computed(() => listed.value?.public_key ?? null)
  const lacksContact = computed(() => listed.value?.contact_set === false)

  function isOwn({ device_id }: Channel): boolean {
    return device_id !== undefined && device_id === me.me?.device_id
  }

  async function load(): Promise<void> {
    listed.value = await getJson<Notifications>(PATH, {})
  }

  function put(channel: Channel): void {
    const { value } = listed
    if (value === null) return
    const others = value.channels.filter(({ channel_id }) => channel_id !== channel.channel_id)
    const isNew = others.length === value.channels.length
    const channels = isNew
      ? [...others, channel]
      : value.channels.map((it) => (it.channel_id === channel.channel_id ? channel : it))
    listed.value = { ...value, channels }
  }

  async function subscribe(subscription: SubscribePush['subscription']): Promise<void> {
    const body: SubscribePush = { subscription }
    put(await postJson<Channel>(`${PATH}/push`, body))
  }

  /** Gives the secret when the server made one: it is told this once. */
  async function add(channel: PutChannel): Promise<string | null> {
    const made = await postJson<MadeChannel>(`${PATH}/channels`, channel)
    put(made.channel)
    return made.secret ?? null
  }

  async function rename({ channel_id }: Channel, name: string): Promise<void> {
    const body: PutChannel = { name }
    put((await putJson<MadeChannel>(`${PATH}/channels/${channel_id}`, body)).channel)
  }

  /** Everybody may choose what their own device is sent. */
  async function change(channel: Channel, settings: ChannelSettings): Promise<void> {
    if (isOwn(channel)) {
      return put(await putJson<Channel>(`${PATH}/push`, { settings } satisfies ChangePush))
    }
    const body: PutChannel = { name: channel.name, settings }
    put((await putJson<MadeChannel>(`${PATH}/channels/${channel.channel_id}`, body)).channel)
  }

  async function remove(channel: Channel): Promise<void> {
    await deleteJson(`${address(channel)}`)
    await load()
  }

  async function test(channel: Channel): Promise<DeliveryResult> {
    const result = await postJson<DeliveryResult>(`${address(channel)}/test`, {})
    // A subscription that the browser has ended is gone by now.
    await load()
    return result
  }

  function address(channel: Channel): string {
    return isOwn(channel) ? `${PATH}/push` : `${PATH}/channels/${channel.channel_id}`
  }

  return {
    ...{ listed, own, devices, shared, publicKey, lacksContact },
    ...{ isOwn, load, subscribe, add, rename, change, remove, test },
  }
})
