export { default as LazyCodeDiff } from './LazyCodeDiff.vue'
export { default as LazyCodeEditor } from './LazyCodeEditor.vue'
export { preloadCode } from './parts'
