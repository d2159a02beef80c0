import { vi } from 'vitest'

/** High enough for every row of a test to be in view. */
const VIEWPORT = 100_000
const ROW = 20

/**
 * Gives elements a height, which a test environment does not: without one a
 * virtual list has no room for any row.
 */
export function layOut(): void {
  class Observer implements ResizeObserver {
    private readonly callback: ResizeObserverCallback

    constructor(callback: ResizeObserverCallback) {
      this.callback = callback
    }

    observe(target: Element): void {
      const height = target instanceof HTMLElement && target.tabIndex === 0 ? VIEWPORT : ROW
      const contentRect = DOMRect.fromRect({ width: 800, height })
      const entry = { target, contentRect } as ResizeObserverEntry
      queueMicrotask(() => this.callback([entry], this))
    }

    unobserve(): void {}
    disconnect(): void {}
  }
  vi.stubGlobal('ResizeObserver', Observer)
  Element.prototype.scrollTo = () => undefined
  vi.spyOn(HTMLElement.prototype, 'offsetParent', 'get').mockReturnValue(document.body)
}
