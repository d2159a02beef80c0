/** A finger that moves something aside to decide it: what it did goes in, what follows comes out. */
export type Side = 'right' | 'left'

export type SwipeState =
  | { kind: 'idle' }
  /** A finger is down and has not shown yet what it wants. */
  | { kind: 'pressed'; x: number; y: number; at: number }
  | { kind: 'swiping'; x: number; y: number; at: number; offset: number; isFar: boolean }

export type SwipeInput =
  | { kind: 'down' | 'move'; x: number; y: number; at: number }
  | { kind: 'up'; at: number }
  /** The browser took the finger for scrolling, or a second one came. */
  | { kind: 'cancel' }

export interface SwipeGround {
  /** Of what is moved. */
  width: number
  /** A side that cannot be swiped to gives way only a little. */
  isBarred: (side: Side) => boolean
}

/** What the finger has asked for, if anything. */
export type SwipeEffect =
  /** It has come so far that letting go would decide, or is back again. */
  | { kind: 'tick' }
  | { kind: 'decide'; side: Side }
  | { kind: 'barred'; side: Side }
  /** Far enough, but no hand that means it is so fast. */
  | { kind: 'too_quick' }

export interface SwipeStep {
  state: SwipeState
  effect: SwipeEffect | null
}

export const IDLE: SwipeState = { kind: 'idle' }

/** Less is a tap with an unsteady finger. */
const SLOP = 12
/** A finger that has rested this long selects text. */
const REST = 400
/** A swipe keeps its line; whoever leaves it wants something else. */
const DRIFT = 72
/** An allowed tool cannot be called back, so its way is long; Deny only opens a form. */
const WAYS: Record<Side, { share: number; least: number; most: number }> = {
  right: { share: 0.6, least: 160, most: 320 },
  left: { share: 0.35, least: 96, most: 200 },
}
/** Once there, a trembling finger is still there. */
const TREMBLE = 16
/** No swipe that is meant is over sooner. */
const LEAST_TIME = 200
/** How far something gives way that cannot be swiped. */
const GIVE = 48

export function sideOf(offset: number): Side {
  return offset < 0 ? 'left' : 'right'
}

/** How far it is to the point where letting go decides. */
export function wayTo(side: Side, width: number): number {
  const { share, least, most } = WAYS[side]
  return Math.min(Math.max(width * share, least), most)
}

export function step(state: SwipeState, input: SwipeInput, ground: SwipeGround): SwipeStep {
  switch (input.kind) {
    case 'down':
      return only({ kind: 'pressed', x: input.x, y: input.y, at: input.at })
    case 'move':
      return moved(state, input, ground)
    case 'up':
      return { state: IDLE, effect: letGo(state, input.at, ground) }
    case 'cancel':
      return only(IDLE)
  }
}

function moved(
  state: SwipeState,
  { x, y, at }: { x: number; y: number; at: number },
  ground: SwipeGround,
): SwipeStep {
  if (state.kind === 'idle') return only(state)
  const across = x - state.x
  const along = Math.abs(y - state.y)
  if (state.kind === 'pressed') {
    if (Math.max(Math.abs(across), along) < SLOP) return only(state)
    // Twice as far across as along: a thumb moves in arcs.
    const isAcross = Math.abs(across) > 2 * along
    if (!isAcross || at - state.at > REST) return only(IDLE)
    return only({ ...state, kind: 'swiping', offset: shown(across, ground), isFar: false })
  }
  if (along > DRIFT) return only(IDLE)
  const side = sideOf(across)
  const needed = wayTo(side, ground.width) - (state.isFar ? TREMBLE : 0)
  const isFar = !ground.isBarred(side) && Math.abs(across) >= needed
  const next: SwipeState = { ...state, offset: shown(across, ground), isFar }
  return { state: next, effect: isFar === state.isFar ? null : { kind: 'tick' } }
}

function letGo(state: SwipeState, at: number, ground: SwipeGround): SwipeEffect | null {
  if (state.kind !== 'swiping') return null
  const side = sideOf(state.offset)
  // Half of the little that it gives is a try, less is none.
  if (ground.isBarred(side)) {
    return Math.abs(state.offset) > GIVE / 2 ? { kind: 'barred', side } : null
  }
  if (!state.isFar) return null
  return at - state.at < LEAST_TIME ? { kind: 'too_quick' } : { kind: 'decide', side }
}

/** Follows the finger; where it cannot go, ever less. */
function shown(across: number, ground: SwipeGround): number {
  if (!ground.isBarred(sideOf(across))) return across
  return Math.sign(across) * GIVE * (1 - Math.exp(-Math.abs(across) / (2 * GIVE)))
}

function only(state: SwipeState): SwipeStep {
  return { state, effect: null }
}
