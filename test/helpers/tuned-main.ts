// The program with a tuning in front of its arguments: `node tuned-main.ts '{"cut":{"openAgeMs":50}}' serve …`. For tests that
// need a node in a process of its own.

import { runCommandLine } from '../../src/cli/program.ts'
import { clientEnvironment, loadConfig, optionTable } from '../../src/app/config.ts'
import { type Tuning, tuned } from './tuning.ts'

const [tuning = '{}', ...args] = process.argv.slice(2)
const exitCode = await runCommandLine(args, {
  clientEnvironment,
  optionTable,
  loadConfig: (flags, file) => tuned(loadConfig(flags, file), JSON.parse(tuning) as Tuning), // as serveNode has written it
})
process.exit(exitCode)
