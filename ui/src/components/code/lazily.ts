import { readonly, ref, shallowRef, type Component, type Ref, type ShallowRef } from 'vue'

/** A component that comes when it is first needed, once for everybody who needs it. */
export interface Lazy {
  component: Readonly<ShallowRef<Component | null>>
  hasFailed: Readonly<Ref<boolean>>
  load: () => Promise<void>
}

export function lazily(load: () => Promise<{ default: Component }>): Lazy {
  const component = shallowRef<Component | null>(null)
  const hasFailed = ref(false)
  let loading: Promise<void> | null = null

  async function start(): Promise<void> {
    try {
      component.value = (await load()).default
    } catch {
      // A browser remembers a module that failed, so only a new page tries again.
      hasFailed.value = true
    }
  }

  return { component, hasFailed: readonly(hasFailed), load: () => (loading ??= start()) }
}
