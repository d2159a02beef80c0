import { defineConfig } from '@playwright/test'

import tests from './playwright.config.ts'

// One at a time, on a machine that does nothing else: figures are all that this is for.
export default defineConfig(tests, { testDir: 'measurements', workers: 1, timeout: 600_000 })
