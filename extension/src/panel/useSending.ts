import { onBeforeUnmount, onMounted, ref, shallowRef, type Ref, type ShallowRef } from 'vue'

import { capture, clipping, currentTab, type Clipping } from '../clipping/clipping'

export interface Sending {
  /** What was taken and waits to be put into a message. */
  taken: ShallowRef<Clipping | null>
  problem: Ref<string | null>
  take: () => Promise<void>
  dismiss: () => void
  leave: () => void
}

const HIDDEN =
  'Chrome shows a page to Sayso when you ask for it there. Right-click the page and choose ' +
  '“Send to agent”, or press Alt+Shift+U in it.'

/** What the human takes from a page, by whichever way. */
export function useSending(): Sending {
  const taken = shallowRef<Clipping | null>(null)
  const problem = ref<string | null>(null)
  let stop: (() => void) | undefined

  const found = (now: Clipping | null): void => {
    taken.value = now
    if (now !== null) problem.value = null
  }

  async function take(): Promise<void> {
    problem.value = null
    const tab = await currentTab()
    const page = tab && (await capture(tab))
    // Without its address the browser has not shown the page at all.
    if (page === null || (page.address === '' && page.screenshot === null)) problem.value = HIDDEN
    else await clipping.write(page)
  }

  onMounted(async () => {
    stop = clipping.watch(found)
    found(await clipping.read())
  })
  onBeforeUnmount(() => stop?.())

  return {
    ...{ taken, problem, take },
    dismiss: () => (problem.value = null),
    leave: () => void clipping.forget(),
  }
}
