import { fileURLToPath } from 'node:url'

import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  plugins: [vue()],
  base: './',
  resolve: {
    alias: {
      '@ui': at('../ui/src'),
      // The web app has it at its root.
      '/favicon.svg': at('../ui/public/favicon.svg'),
    },
    // The web app's files find these beside themselves, too, and there must be one of each.
    dedupe: ['@lucide/vue', 'pinia', 'vue', 'vue-router'],
  },
  build: {
    target: 'es2022',
    cssTarget: 'chrome123',
    // The manifest's content policy takes scripts and styles from files only.
    assetsInlineLimit: 0,
    modulePreload: false,
    rollupOptions: {
      input: {
        panel: at('panel.html'),
        options: at('options.html'),
        worker: at('src/worker/main.ts'),
      },
      output: {
        // The manifest names it.
        entryFileNames: ({ name }) => (name === 'worker' ? 'worker.js' : 'assets/[name]-[hash].js'),
      },
    },
  },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.ts'],
    restoreMocks: true,
  },
})
