// Every format with its code.

import type { Format } from '../../src/libraries/formats/format.ts'
import { formatsBut } from '../../src/app/formats.ts'
import { must } from '../../src/libraries/base/assert.ts'

export const formats = formatsBut([])

export const loadedFormats: readonly Format[] = await Promise.all(formats.all.map(async ({ load }) => await load()))

/** The format called `name`. */
export function formatNamed(name: string): Format {
  return must(
    loadedFormats.find((format) => format.name === name),
    'a format',
  )
}
