// Names the test files that `npm test` leaves out and that are not left to `npm run explore`: what CI runs after it.

import { globSync } from 'node:fs'
import { exploredFiles, slowFiles } from '../test/slow-files.ts'

const explored = new Set(globSync(exploredFiles))
const apart = /^test\/(?:crash|sim)\//
const files = globSync(slowFiles).filter((file) => !explored.has(file) && !apart.test(file))
process.stdout.write(`${[...new Set(files)].sort().join(' ')}\n`)
