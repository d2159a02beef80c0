import { computed, onBeforeUnmount, onDeactivated, onMounted, ref, type Ref } from 'vue'

import { IDLE, sideOf, step, type Side, type SwipeInput, type SwipeState } from './swipe'
import { useZoomed } from './useZoomed'

/** What can be swiped, and what comes of it. */
export interface Swipeable {
  /** False while nothing of it may be decided. A swipe that begins then never counts. */
  isReady: () => boolean
  /** Why it cannot be swiped to this side; null where it can. */
  bar: (side: Side) => string | null
  take: (side: Side) => void
}

export interface Swipe {
  /** How far it is moved aside; 0 at rest. */
  offset: Readonly<Ref<number>>
  isSwiping: Readonly<Ref<boolean>>
  side: Readonly<Ref<Side>>
  /** Letting go now decides. */
  isFar: Readonly<Ref<boolean>>
  isBarred: Readonly<Ref<boolean>>
  /** Why the last swipe did nothing, for a while. */
  said: Readonly<Ref<string | null>>
  /** Sideways moves are ours. Whoever has zoomed in needs them to look around. */
  isListening: Readonly<Ref<boolean>>
}

/** What has its own use for a finger that moves sideways, or is pressed. */
const NOT_FROM = 'button, input, textarea, select, summary, [contenteditable], [role="radio"]'
/** Near the edge of the screen the system's own gesture goes back a page. */
const EDGE = 20
const SAID_FOR = 5000
const TOO_QUICK = 'That was quick. Swipe slowly, all the way, to allow it.'

/** Lets a finger move `area` aside to decide it. A mouse selects text instead. */
export function useSwipe(
  area: Readonly<Ref<HTMLElement | null>>,
  { isReady, bar, take }: Swipeable,
): Swipe {
  const state = ref<SwipeState>(IDLE)
  const said = ref<string | null>(null)
  const isZoomed = useZoomed()
  let pointer: number | null = null
  let width = 0
  let timer: ReturnType<typeof setTimeout>

  const offset = computed(() => (state.value.kind === 'swiping' ? state.value.offset : 0))
  const isSwiping = computed(() => state.value.kind === 'swiping')
  const side = computed(() => sideOf(offset.value))
  const isFar = computed(() => state.value.kind === 'swiping' && state.value.isFar)
  const isBarred = computed(() => isSwiping.value && bar(side.value) !== null)
  const isListening = computed(() => !isZoomed.value)

  function feed(input: SwipeInput): void {
    const next = step(state.value, input, { width, isBarred: (side) => bar(side) !== null })
    state.value = next.state
    if (next.state.kind === 'idle') pointer = null
    switch (next.effect?.kind) {
      case undefined:
        return
      case 'tick':
        return void navigator.vibrate?.(12)
      case 'barred':
        return say(bar(next.effect.side))
      case 'too_quick':
        return say(TOO_QUICK)
      case 'decide':
        if (isReady()) take(next.effect.side)
    }
  }

  function say(words: string | null): void {
    clearTimeout(timer)
    said.value = words
    timer = setTimeout(() => (said.value = null), SAID_FOR)
  }

  function down(event: PointerEvent): void {
    // A second finger wants to zoom.
    if (pointer !== null || !event.isPrimary) return cancel()
    if (event.pointerType === 'mouse' || !event.isTrusted || isZoomed.value || !isReady()) return
    if (isNearEdge(event.clientX) || isTaken(event.target, area.value)) return
    pointer = event.pointerId
    said.value = null
    width = area.value?.clientWidth ?? 0
    feed({ kind: 'down', x: event.clientX, y: event.clientY, at: event.timeStamp })
  }

  function move(event: PointerEvent): void {
    if (event.pointerId !== pointer || !event.isTrusted) return
    feed({ kind: 'move', x: event.clientX, y: event.clientY, at: event.timeStamp })
    // What the finger came down on may be gone before it is let go.
    if (state.value.kind === 'swiping') area.value?.setPointerCapture(event.pointerId)
  }

  function up(event: PointerEvent): void {
    if (event.pointerId === pointer && event.isTrusted) feed({ kind: 'up', at: event.timeStamp })
  }

  function cancel(): void {
    feed({ kind: 'cancel' })
  }

  onMounted(() => {
    area.value?.addEventListener('pointerdown', down)
    area.value?.addEventListener('pointermove', move)
    area.value?.addEventListener('pointerup', up)
    area.value?.addEventListener('pointercancel', cancel)
  })
  // Another card has taken its place: what was begun on this one is not meant any more.
  onDeactivated(cancel)
  onBeforeUnmount(() => clearTimeout(timer))
  return { offset, isSwiping, side, isFar, isBarred, said, isListening }
}

function isNearEdge(x: number): boolean {
  return x < EDGE || x > window.innerWidth - EDGE
}

function isTaken(target: EventTarget | null, area: HTMLElement | null): boolean {
  if (!(target instanceof Element) || target.closest(NOT_FROM) !== null) return true
  for (let at: Element | null = target; at !== null && at !== area; at = at.parentElement) {
    if (at.scrollWidth > at.clientWidth && scrollsSideways(at)) return true
  }
  return false
}

function scrollsSideways(element: Element): boolean {
  return ['auto', 'scroll'].includes(getComputedStyle(element).overflowX)
}
