import { vi } from 'vitest'

/** What real browsers have and jsdom lacks, as far as components need it. */
export function installBrowser(): void {
  HTMLDialogElement.prototype.showModal = function (this: HTMLDialogElement) {
    this.open = true
  }
  HTMLDialogElement.prototype.close = function (this: HTMLDialogElement) {
    this.open = false
  }
  Element.prototype.scrollIntoView = () => undefined
}

/** Answers `fetch` by path and query; anything else is not found. */
export function answerFetch(answers: (url: URL) => unknown): void {
  vi.stubGlobal('fetch', (address: string) => {
    const body = answers(new URL(address, 'http://sayso.test'))
    const found = body !== undefined
    const missing = { code: 'not_found', message: 'There is nothing at this address.' }
    return Promise.resolve(Response.json(found ? body : missing, { status: found ? 200 : 404 }))
  })
}
