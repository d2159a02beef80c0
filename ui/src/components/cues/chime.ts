/** A rising fourth, short and soft: noticed across a room, not startling at a desk. */
const TONES = [587.33, 783.99]
const VOLUME = 0.12
const TONE_GAP = 0.15
const TONE_LENGTH = 0.45
const SILENCE = 1.2

let context: AudioContext | null = null

/** Browsers play nothing before a gesture; to be called from one. False when they still refuse. */
export async function unlockSound(): Promise<boolean> {
  try {
    context ??= new AudioContext()
    if (context.state !== 'running') await context.resume()
    return canPlay()
  } catch {
    return false
  }
}

export function canPlay(): boolean {
  return context?.state === 'running'
}

/** Unlocks the sound with whatever is pressed first. Returns how to stop waiting for it. */
export function unlockOnGesture(isWanted: () => boolean): () => void {
  const gestures = ['pointerdown', 'keydown']
  function stop(): void {
    for (const gesture of gestures) window.removeEventListener(gesture, pressed, true)
  }
  async function pressed(): Promise<void> {
    if (isWanted() && (await unlockSound())) stop()
  }
  for (const gesture of gestures) window.addEventListener(gesture, pressed, true)
  return stop
}

/** Ends a moment after the last tone, so that whoever waits for the end keeps a distance. */
export function playChime(): Promise<void> {
  const audio = context
  if (audio === null || !canPlay()) return Promise.resolve()
  const start = audio.currentTime
  TONES.forEach((frequency, index) => playTone(audio, frequency, start + index * TONE_GAP))
  // Hidden tabs get their timers late; the audio clock stays exact.
  const silence = new ConstantSourceNode(audio, { offset: 0 })
  silence.connect(audio.destination)
  silence.start(start)
  silence.stop(start + TONES.length * TONE_GAP + SILENCE)
  return new Promise((resolve) => silence.addEventListener('ended', () => resolve()))
}

function playTone(audio: AudioContext, frequency: number, at: number): void {
  const oscillator = new OscillatorNode(audio, { frequency })
  const envelope = new GainNode(audio, { gain: 0 })
  envelope.gain.setValueAtTime(0, at)
  envelope.gain.linearRampToValueAtTime(VOLUME, at + 0.02)
  envelope.gain.exponentialRampToValueAtTime(0.0001, at + TONE_LENGTH)
  oscillator.connect(envelope).connect(audio.destination)
  oscillator.start(at)
  oscillator.stop(at + TONE_LENGTH)
}
