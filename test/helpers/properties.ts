// Setup of tests with fast-check: a property that hangs or whose shrinking takes long fails with its input, before the runner
// ends the test and says nothing.

import fc from 'fast-check'

fc.configureGlobal({ timeout: 300_000, interruptAfterTimeLimit: 600_000, markInterruptAsFailure: true })
