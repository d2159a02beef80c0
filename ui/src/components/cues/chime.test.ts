import { afterEach, beforeEach, expect, test, vi } from 'vitest'

/** Enough of the browser's audio to see what would be heard. */
const heard: number[] = []
let state: AudioContextState

class TestNode extends EventTarget {
  readonly gain = {
    setValueAtTime: () => undefined,
    linearRampToValueAtTime: () => undefined,
    exponentialRampToValueAtTime: () => undefined,
  }
  connect = (next: unknown) => next
  start = () => undefined
  stop = () => queueMicrotask(() => this.dispatchEvent(new Event('ended')))
}

class TestOscillator extends TestNode {
  constructor(_context: unknown, { frequency }: OscillatorOptions) {
    super()
    heard.push(Math.round(frequency ?? 0))
  }
}

class TestContext {
  currentTime = 0
  destination = new TestNode()
  resume = () => Promise.resolve()

  get state(): AudioContextState {
    return state
  }
}

beforeEach(() => {
  vi.resetModules()
  heard.length = 0
  state = 'running'
  vi.stubGlobal('AudioContext', TestContext)
  vi.stubGlobal('OscillatorNode', TestOscillator)
  vi.stubGlobal('GainNode', TestNode)
  vi.stubGlobal('ConstantSourceNode', TestNode)
})
afterEach(() => vi.unstubAllGlobals())

test('plays two rising tones, and only once the browser lets it', async () => {
  const { canPlay, playChime, unlockSound } = await import('./chime')
  await playChime()
  expect([canPlay(), heard]).toEqual([false, []])
  expect(await unlockSound()).toBe(true)
  await playChime()
  expect(heard).toEqual([587, 784])
})

test('says when the browser still refuses, or has no sound at all', async () => {
  const { unlockSound } = await import('./chime')
  state = 'suspended'
  expect(await unlockSound()).toBe(false)
  vi.resetModules()
  vi.stubGlobal('AudioContext', undefined)
  expect(await (await import('./chime')).unlockSound()).toBe(false)
})

test('the first gesture unlocks it, when it is wanted', async () => {
  const { canPlay, unlockOnGesture } = await import('./chime')
  let isWanted = false
  const stop = unlockOnGesture(() => isWanted)
  const press = async (): Promise<boolean> => {
    window.dispatchEvent(new Event('pointerdown'))
    await Promise.resolve()
    return canPlay()
  }
  expect(await press()).toBe(false)
  isWanted = true
  expect(await press()).toBe(true)
  stop()
})
