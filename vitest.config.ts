// Three projects by folder: unit (pure code and adapters), scenario (a real node over HTTP), crash (SIGKILL).
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/scenario/**', 'test/crash/**', 'test/docs/**'], testTimeout: 60_000 } },
      { test: { name: 'scenario', include: ['test/scenario/**/*.test.ts', 'test/docs/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 60_000 } },
      { test: { name: 'crash', include: ['test/crash/**/*.test.ts'], testTimeout: 1_800_000, hookTimeout: 60_000 } },
    ],
  },
})
