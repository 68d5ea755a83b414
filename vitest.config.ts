// Projects by folder: unit (pure code and adapters), scenario (a real node over HTTP), crash (SIGKILL), sim (the
// deterministic simulation), syscalls (faults of system calls), package (the packed tarball, installed), mutants (planted
// bugs that tests must catch), kafka (a real Apache Kafka).
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// Tests start many short processes that load the same sources: compiled once, they start in a third of the time.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'proofstream-compile-cache')

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/scenario/**', 'test/crash/**', 'test/docs/**', 'test/kafka/**', 'test/sim/**', 'test/syscalls/**', 'test/mutants/**', 'test/package/**'], globalSetup: ['test/helpers/pages.ts'], testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 2 } },
      { test: { name: 'scenario', include: ['test/scenario/**/*.test.ts', 'test/docs/**/*.test.ts'], globalSetup: ['test/helpers/pages.ts'], testTimeout: 120_000, hookTimeout: 60_000, maxWorkers: 2 } },
      { test: { name: 'crash', include: ['test/crash/**/*.test.ts'], testTimeout: 1_800_000, hookTimeout: 60_000 } },
      { test: { name: 'sim', include: ['test/sim/**/*.test.ts'], testTimeout: 7_200_000, maxWorkers: 2 } },
      { test: { name: 'syscalls', include: ['test/syscalls/**/*.test.ts'], testTimeout: 7_200_000 } },
      { test: { name: 'package', include: ['test/package/**/*.test.ts'], testTimeout: 300_000, hookTimeout: 300_000 } },
      { test: { name: 'mutants', include: ['test/mutants/**/*.test.ts'], testTimeout: 1_800_000, maxConcurrency: 2 } },
      {
        test: {
          name: 'kafka',
          include: ['test/kafka/**/*.test.ts'],
          globalSetup: ['test/kafka/global-setup.ts'],
          testTimeout: 600_000,
          hookTimeout: 120_000,
          maxWorkers: 1,
        },
      },
    ],
  },
})
