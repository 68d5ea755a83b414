// Projects by folder: unit (pure code and adapters), together (those of them whose files share a process, which loads the sources
// once: codecs, and routes of a node that keeps no state behind), scenario (a real node over HTTP), crash (SIGKILL), sim (the
// deterministic simulation), syscalls (faults of system calls), package (the packed tarball, installed), mutants (planted
// bugs that tests must catch), kafka (a real Apache Kafka). With TEST_TIER=fast those of test/slow-files.ts are left out.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { slowFiles } from './test/slow-files.ts'

// Tests start many short processes that load the same sources: compiled once, they start in a third of the time.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'proofstream-compile-cache')

const together = [
  'libraries/{base,columnar,geo,ledger,model,odf,proof}',
  'features/{excel,ogc,otlp,shapefile}',
  'node/{formats,http}',
]
const ownProjects = [...together, 'scenario', 'crash', 'docs', 'kafka', 'sim', 'syscalls', 'mutants', 'package']

/** The runner ends what hangs, and nothing that a busy machine only slows down: a fact that does not come fails before. */
const limits = {
  testTimeout: 1_200_000,
  hookTimeout: 1_200_000,
  expect: { poll: { timeout: 300_000 } },
  alias: [{ find: /^fast-check$/, replacement: join(import.meta.dirname, 'test/helpers/properties.ts') }],
}
const long = { ...limits, testTimeout: 7_200_000 }

const exclude = process.env['TEST_TIER'] === 'fast' ? slowFiles : []
const folder = (name: string): string => `test/${name}/**/*.test.ts`
const pages = ['test/helpers/pages.ts']

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...limits,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...exclude, ...ownProjects.map(folder)],
          globalSetup: pages,
          maxWorkers: 2,
        },
      },
      {
        test: {
          ...limits,
          name: 'together',
          include: together.map(folder),
          exclude,
          globalSetup: pages,
          maxWorkers: 2,
          isolate: false,
        },
      },
      {
        test: {
          ...limits,
          name: 'scenario',
          include: [folder('scenario'), folder('docs')],
          exclude,
          globalSetup: pages,
          maxWorkers: 2,
        },
      },
      { test: { ...long, name: 'crash', include: [folder('crash')], exclude } },
      { test: { ...long, name: 'sim', include: [folder('sim')], exclude, maxWorkers: 2 } },
      { test: { ...long, name: 'syscalls', include: [folder('syscalls')] } },
      { test: { ...long, name: 'package', include: [folder('package')] } },
      { test: { ...long, name: 'mutants', include: [folder('mutants')], maxConcurrency: 2 } },
      {
        test: {
          ...long,
          name: 'kafka',
          include: [folder('kafka')],
          globalSetup: ['test/kafka/global-setup.ts'],
          maxWorkers: 1,
        },
      },
    ],
  },
})
