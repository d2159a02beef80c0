import { expect, test } from 'vitest'

import {
  IDLE,
  step,
  wayTo,
  type Side,
  type SwipeEffect,
  type SwipeInput,
  type SwipeState,
} from './swipe'

type Way = readonly [x: number, y: number, at: number]

interface Played {
  state: SwipeState
  effects: SwipeEffect[]
}

/** A finger goes down at the first place, over the others, and is let go at the last. */
function play(way: Way[], barred: Side[] = [], end: 'up' | 'cancel' | 'stay' = 'up'): Played {
  const ground = { width: 390, isBarred: (side: Side) => barred.includes(side) }
  const inputs: SwipeInput[] = way.map(([x, y, at], index) => {
    return { kind: index === 0 ? 'down' : 'move', x, y, at }
  })
  const at = way.at(-1)?.[2] ?? 0
  if (end === 'up') inputs.push({ kind: 'up', at })
  if (end === 'cancel') inputs.push({ kind: 'cancel' })
  const effects: SwipeEffect[] = []
  let state: SwipeState = IDLE
  for (const input of inputs) {
    const next = step(state, input, ground)
    state = next.state
    if (next.effect !== null) effects.push(next.effect)
  }
  return { state, effects }
}

const TICK: SwipeEffect = { kind: 'tick' }
const decided = (side: Side): SwipeEffect => ({ kind: 'decide', side })

test.each<[string, Way[], SwipeEffect[]]>([
  [
    'all the way to the right',
    [
      [20, 300, 0],
      [60, 300, 80],
      [270, 305, 400],
    ],
    [TICK, decided('right')],
  ],
  [
    'a way that is enough for Deny does not allow',
    [
      [20, 300, 0],
      [60, 300, 80],
      [170, 300, 400],
    ],
    [],
  ],
  [
    'that way to the left',
    [
      [300, 300, 0],
      [260, 300, 80],
      [150, 300, 400],
    ],
    [TICK, decided('left')],
  ],
  [
    'back again before letting go',
    [
      [20, 300, 0],
      [60, 300, 80],
      [270, 300, 300],
      [100, 300, 500],
    ],
    [TICK, TICK],
  ],
  [
    'trembling at the point',
    [
      [20, 300, 0],
      [60, 300, 80],
      [258, 300, 300],
      [246, 300, 400],
    ],
    [TICK, decided('right')],
  ],
  [
    'over to the other side',
    [
      [200, 300, 0],
      [240, 300, 80],
      [60, 300, 400],
    ],
    [TICK, decided('left')],
  ],
  [
    'too quick to be meant',
    [
      [20, 300, 0],
      [60, 300, 20],
      [300, 300, 90],
    ],
    [TICK, { kind: 'too_quick' }],
  ],
  [
    'scrolling',
    [
      [200, 300, 0],
      [204, 340, 50],
      [390, 340, 400],
    ],
    [],
  ],
  [
    'slantwise',
    [
      [20, 300, 0],
      [60, 325, 80],
      [300, 325, 400],
    ],
    [],
  ],
  [
    'leaving the line',
    [
      [20, 300, 0],
      [60, 300, 80],
      [270, 300, 300],
      [280, 380, 400],
    ],
    [TICK],
  ],
  [
    'a finger that rested first',
    [
      [20, 300, 0],
      [60, 300, 600],
      [300, 300, 900],
    ],
    [],
  ],
  [
    'a tap',
    [
      [20, 300, 0],
      [24, 302, 80],
    ],
    [],
  ],
])('%s', (_, way, effects) => {
  expect(play(way)).toEqual({ state: IDLE, effects })
})

test('what the browser takes for scrolling decides nothing', () => {
  const way: Way[] = [
    [20, 300, 0],
    [60, 300, 80],
    [300, 300, 400],
  ]
  expect(play(way, [], 'cancel')).toEqual({ state: IDLE, effects: [TICK] })
})

test('a barred side gives way a little, never decides and says that it was tried', () => {
  const way: Way[] = [
    [20, 300, 0],
    [60, 300, 80],
    [380, 300, 800],
  ]
  const held = play(way, ['right'], 'stay')
  expect(held.effects).toEqual([])
  expect(held.state).toMatchObject({ kind: 'swiping', isFar: false })
  expect(held.state.kind === 'swiping' && held.state.offset).toBeLessThan(49)
  expect(play(way, ['right']).effects).toEqual([{ kind: 'barred', side: 'right' }])
  expect(
    play(
      [
        [20, 300, 0],
        [36, 300, 80],
      ],
      ['right'],
    ).effects,
  ).toEqual([])
  // The other side is not meant by it.
  expect(
    play(
      [
        [300, 300, 0],
        [260, 300, 80],
        [150, 300, 400],
      ],
      ['right'],
    ).effects,
  ).toEqual([TICK, decided('left')])
})

test('the way to Allow is long on every screen, and fits on the smallest', () => {
  expect([320, 390, 1024].map((width) => [wayTo('right', width), wayTo('left', width)])).toEqual([
    [192, 112],
    [234, 136.5],
    [320, 200],
  ])
})
