// What the tests of shapefiles share: fixtures, bodies in memory, features as values.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileOptions } from '../../../src/libraries/formats/format.ts'
import { Warnings } from '../../../src/libraries/base/warnings.ts'
import { layerFeatures } from '../../../src/features/shapefile/features.ts'
import { openShapefile } from '../../../src/features/shapefile/format.ts'
import type { Limits } from '../../../src/libraries/base/limits.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { defaultLimits } from '../../helpers/default-limits.ts'
import { bodyFile } from '../../libraries/formats/reading.ts'

export const fixtures = join(import.meta.dirname, '../../fixtures/shapefile')

export function fixture(name: string): Buffer {
  return readFileSync(join(fixtures, name))
}

const limits = defaultLimits()

export type Options = Omit<Partial<FileOptions>, 'limits'> & { readonly limits?: Partial<Limits> }

/** The features of a zip as text, one a line. */
export async function featureLines(zip: Uint8Array, options: Options = {}): Promise<string[]> {
  const chunks: Uint8Array[] = []
  const all = { ...options, limits: { ...limits, ...options.limits } }
  const layer = await openShapefile(bodyFile(zip), all)
  for await (const chunk of layerFeatures(layer, new Warnings())) chunks.push(Uint8Array.from(chunk))
  return Buffer.concat(chunks).toString().split('\n').slice(0, -1)
}

/** The error that reading a zip ends with. Anything else that is thrown is passed on. */
export async function errorOf(zip: Uint8Array, options: Options = {}): Promise<NodeError> {
  try {
    await featureLines(zip, options)
  } catch (error) {
    if (error instanceof NodeError) return error
    throw error
  }
  throw new TypeError('The zip was read.')
}
