/** Clients show two seconds less than the server allows, so that a click at the end still counts. */
const SAFETY_SECONDS = 2

/** Whole seconds that a human has left. */
export function secondsLeft(deadline: string, now: number): number {
  return Math.max(0, Math.floor((Date.parse(deadline) - now) / 1000) - SAFETY_SECONDS)
}

/** The same margin on a stopped clock. */
export function heldSecondsLeft(remaining: number): number {
  return Math.max(0, remaining - SAFETY_SECONDS)
}

/** `4:12`, `1:02:03`. */
export function clockText(seconds: number): string {
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  const rest = String(seconds % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}

// Made once: each of them reads the rules of the reader's language anew.
const TIME_OF_DAY = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const EXACT_TIME = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'short',
  timeStyle: 'medium',
})
const DAY = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' })
const DAY_AND_YEAR = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })

/** The time of day, for marks in a transcript. */
export function timeOfDay(at: string): string {
  return TIME_OF_DAY.format(new Date(at))
}

export function exactTime(at: string): string {
  return EXACT_TIME.format(new Date(at))
}

/** `Today`, `Yesterday`, `Monday, 4 May`; another year is named. */
export function dayText(at: string, now: number): string {
  const day = new Date(at)
  const today = new Date(now)
  const yesterday = new Date(now)
  yesterday.setDate(today.getDate() - 1)
  if (day.toDateString() === today.toDateString()) return 'Today'
  if (day.toDateString() === yesterday.toDateString()) return 'Yesterday'
  return (day.getFullYear() === today.getFullYear() ? DAY : DAY_AND_YEAR).format(day)
}

/** `now`, `3 min`, `2 h`, `5 d`. */
export function ageText(at: string, now: number): string {
  const minutes = Math.floor(Math.max(0, now - Date.parse(at)) / 60_000)
  if (minutes < 1) return 'now'
  if (minutes < 60) return `${minutes} min`
  if (minutes < 60 * 24) return `${Math.floor(minutes / 60)} h`
  return `${Math.floor(minutes / (60 * 24))} d`
}

/** `now`, `3 min ago`. */
export function agoText(at: string, now: number): string {
  const age = ageText(at, now)
  return age === 'now' ? age : `${age} ago`
}

/** What is left until then: `45 s`, `12 min`, `1 h 5 min`. A minute that has begun counts. */
export function leftText(until: string, now: number): string {
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - now) / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const rest = minutes % 60
  return `${Math.floor(minutes / 60)} h${rest > 0 ? ` ${rest} min` : ''}`
}

/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 5 min`. */
export function durationText(milliseconds: number): string {
  const seconds = milliseconds / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.round(seconds)} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}

export function costText(dollars: number): string {
  return dollars > 0 && dollars < 0.01 ? '< $0.01' : `$${dollars.toFixed(2)}`
}
