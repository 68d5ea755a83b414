// The native binding of the engine in this process: the package in the folder that its parent named, else that of the release.
// Nothing else loads it.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as nodeApi from '@duckdb/node-api'
import type accessorsOf from '@duckdb/node-api/lib/vectors/dataAccessors.js'
import { engineFlag } from './messages.ts'

const folder = process.argv.find((argument) => argument.startsWith(engineFlag))?.slice(engineFlag.length)
const load = createRequire(folder === undefined ? import.meta.url : join(folder, 'package.json'))
const name = folder === undefined ? '@duckdb/node-api' : '.'

/** `@duckdb/node-api`. */
export const binding = load(`${name}/lib/index.js`) as typeof nodeApi // what its types say of each version

/** How the binding reads the bytes of values. */
export const accessors = load(`${name}/lib/vectors/dataAccessors.js`) as typeof accessorsOf // the same
