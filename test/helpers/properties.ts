// fast-check as the tests get it (vitest.config.ts): the same values each time, and a property that hangs or whose shrinking takes long
// fails with its input, before the runner ends the test and says nothing.

import fc from '../../node_modules/fast-check/lib/fast-check.js'
import { seed } from './seed.ts'

fc.configureGlobal({ seed, timeout: 300_000, interruptAfterTimeLimit: 600_000, markInterruptAsFailure: true })

export * from '../../node_modules/fast-check/lib/fast-check.js'
export default fc
