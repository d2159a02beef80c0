import { defineConfig } from '@playwright/test'

import { launchOptions } from './fixtures/programs.ts'

const inCi = Boolean(process.env['CI'])

export default defineConfig({
  testDir: 'tests',
  outputDir: 'test-results',
  fullyParallel: true,
  // Each test runs a browser page, a server and an agent of some 200 MB.
  workers: 2,
  // What passes only the second time is listed as flaky, and is to be mended.
  retries: inCi ? 1 : 0,
  forbidOnly: inCi,
  // Some seconds each; a machine that is short of processor time needs far more.
  timeout: 120_000,
  // When everything is broken, waiting for each test to say so helps nobody.
  ...(inCi && { globalTimeout: 45 * 60_000 }),
  expect: { timeout: 30_000 },
  reporter: [['list']],
  use: {
    actionTimeout: 30_000,
    screenshot: 'only-on-failure',
    trace: 'off',
    launchOptions: launchOptions(),
  },
})
