import vue from '@vitejs/plugin-vue'
import type { ProxyOptions } from 'vite'
import { defineConfig } from 'vitest/config'

import { serviceWorker } from './vite.service-worker'

/** With a token the proxy signs in by itself; without one the page needs its cookie. */
function proxyTo(target: string): ProxyOptions {
  const token = process.env.SAYSO_DEV_TOKEN
  const headers = { Origin: target, Authorization: `Bearer ${token}` }
  return { target, ws: true, changeOrigin: true, ...(token === undefined ? {} : { headers }) }
}

export default defineConfig({
  plugins: [vue(), serviceWorker()],
  build: {
    target: 'es2022',
    // The tokens use light-dark() and oklch() as written; nothing older is served.
    cssTarget: 'chrome123',
    // The server's content policy takes scripts and styles from files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { '/api': proxyTo(process.env.SAYSO_DEV_SERVER ?? 'http://127.0.0.1:7297') },
  },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.ts'],
    restoreMocks: true,
  },
})
