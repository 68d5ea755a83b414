// Data that others made (test/fixtures/samples, demo), inflated.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { repository } from './sources.ts'

/** The bytes of a file of test/fixtures/samples by its name without `.gz`. */
export const sample = (name: string): Buffer =>
  gunzipSync(readFileSync(join(repository, 'test', 'fixtures', 'samples', `${name}.gz`)))

/** The bytes of a file of `demo/` by its name without `.gz`. */
export const demoFile = (name: string): Buffer => gunzipSync(readFileSync(join(repository, 'demo', `${name}.gz`)))
