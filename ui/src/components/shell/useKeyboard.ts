import { onBeforeUnmount, onMounted } from 'vue'

export interface View {
  /** Of the page's window. */
  windowHeight: number
  /** Of the part of it that can be seen. */
  height: number
  scale: number
}

/** The bars of a browser that come and go are lower. */
const LEAST_KEYBOARD = 120

/**
 * The height that is left above a keyboard that lies over the page; null when
 * there is none. Whoever has zoomed in sees less of the page as well.
 */
export function heightAboveKeyboard({ windowHeight, height, scale }: View): number | null {
  if (scale > 1.02 || windowHeight - height < LEAST_KEYBOARD) return null
  return Math.round(height)
}

const TEXT = 'textarea, [contenteditable="true"], input:not([type="checkbox"], [type="radio"])'
/** Longer than a tap. What has moved meanwhile would be under the finger in place of its aim. */
const TAP = 400

/**
 * Keeps the page, and in it the field that is written to, above the keyboard.
 * While somebody writes, and so has one on the screen, the root element has
 * `data-writing`, for what should make room then. Where `interactive-widget` is understood
 * the window itself gets smaller and nothing is left to do; Safari lays the
 * keyboard over the page and pushes the page up under it.
 */
export function useKeyboard(): void {
  const view = window.visualViewport
  const root = document.documentElement
  const { style } = root
  let timer: ReturnType<typeof setTimeout>

  function look(): void {
    if (view === null) return
    const { height, scale } = view
    const left = heightAboveKeyboard({ windowHeight: window.innerHeight, height, scale })
    if (left === null) return void style.removeProperty('--visible-height')
    style.setProperty('--visible-height', `${left}px`)
    window.scrollTo(0, 0)
  }

  function resized(): void {
    look()
    // Everything has its new place only then.
    requestAnimationFrame(showField)
  }

  function focused(): void {
    if (!hasField()) return
    clearTimeout(timer)
    root.toggleAttribute('data-writing', true)
  }

  function left(): void {
    clearTimeout(timer)
    timer = setTimeout(() => root.toggleAttribute('data-writing', hasField()), TAP)
  }

  onMounted(() => {
    view?.addEventListener('resize', resized)
    view?.addEventListener('scroll', look)
    document.addEventListener('focusin', focused)
    document.addEventListener('focusout', left)
  })
  onBeforeUnmount(() => {
    clearTimeout(timer)
    view?.removeEventListener('resize', resized)
    view?.removeEventListener('scroll', look)
    document.removeEventListener('focusin', focused)
    document.removeEventListener('focusout', left)
  })
}

function hasField(): boolean {
  return document.activeElement?.matches(TEXT) ?? false
}

function showField(): void {
  if (hasField()) document.activeElement?.scrollIntoView({ block: 'nearest' })
}
