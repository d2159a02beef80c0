import { lazily } from './lazily'

/** The editor is large and rarely the first thing needed, so it is apart from the app. */
export const codeEditor = lazily(() => import('./CodeEditor.vue'))
export const codeDiff = lazily(() => import('./CodeDiff.vue'))

/** Begins when the browser has nothing else to do, so that the first card need not wait. */
export function preloadCode(): void {
  const load = (): void => void Promise.all([codeEditor.load(), codeDiff.load()])
  if ('requestIdleCallback' in window) window.requestIdleCallback(load)
  else setTimeout(load, 1000)
}
