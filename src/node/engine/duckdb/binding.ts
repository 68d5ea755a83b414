// The native binding of the engine in this process: the package in the folder that its parent named, whose files must be in the
// state in which the parent has read them, before they are loaded and behind it. Else that of the release. Nothing else loads it.

import { createRequire, Module } from 'node:module'
import { join } from 'node:path'
import type * as nodeApi from '@duckdb/node-api'
import type accessorsOf from '@duckdb/node-api/lib/vectors/dataAccessors.js'
import { assert } from '../../../libraries/base/assert.ts'
import { engineFlag } from '../messages.ts'
import { filesOf, stateOf } from '../native-engine.ts'

interface Loaded {
  readonly binding: typeof nodeApi
  readonly accessors: typeof accessorsOf
}

const given = process.argv.find((argument) => argument.startsWith(engineFlag))?.slice(engineFlag.length)
const [, state = '', folder = ''] = /^([^=]*)=(.*)$/s.exec(given ?? '') ?? []
const loaded = given === undefined ? loadFrom(createRequire(import.meta.url), '@duckdb/node-api') : loadKnown()

/** `@duckdb/node-api`. */
export const { binding } = loaded
/** How the binding reads the bytes of values. */
export const { accessors } = loaded

/** Throws where its files have changed since they were read, or another file was loaded. */
function loadKnown(): Loaded {
  const files = filesOf(folder)
  assert(files !== undefined && stateOf(files) === state, 'the files of the engine are those that were read')
  const load = createRequire(join(folder, 'package.json'))
  const before = new Set(Object.keys(load.cache))
  // The package of bindings chooses a library by what else is installed; this one was chosen, and its addon is known.
  const name = load.resolve('@duckdb/node-bindings')
  const exports: unknown = load(files.addon)
  load.cache[name] = Object.assign(new Module(name), { exports, loaded: true })
  const found = loadFrom(load, '.')
  const known = new Set([name, files.addon, ...files.modules])
  assert(stateOf(files) === state, 'the files of the engine have not changed while they were loaded')
  assert(
    Object.keys(load.cache).every((path) => known.has(path) || before.has(path)),
    'no other file was loaded',
  )
  return found
}

function loadFrom(load: NodeJS.Require, name: string): Loaded {
  return {
    binding: load(`${name}/lib/index.js`) as typeof nodeApi, // what its types say of each version
    accessors: load(`${name}/lib/vectors/dataAccessors.js`) as typeof accessorsOf, // the same
  }
}
