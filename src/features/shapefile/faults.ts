// Errors of a shapefile: each names the file in the zip, and the record where there is one.

import { defined } from '../../libraries/base/collections.ts'
import { shortened } from '../../libraries/base/shortened.ts'
import type { Limits } from '../../libraries/base/limits.ts'
import { NodeError, type RecordErrorKind } from '../../libraries/base/errors.ts'

/** What reading a shapefile is bounded by. */
export type ShapefileLimits = Pick<Limits, 'zipEntries' | 'inflatedBytes' | 'inflatedRatio' | 'recordBytes' | 'columns'>

/** A fault of one record; the file may be read on after it. */
export interface RecordFault {
  readonly kind: RecordErrorKind
  readonly message: string
  readonly column?: string
  readonly excerpt?: string
  readonly hint?: string
}

/** A name from a file as it may be shown: at most 100 characters, control characters replaced. */
export function shown(name: string): string {
  return shortened(name.replaceAll(/\p{C}/gu, '·'), 100)
}

/** The error for a file that is not what its name says. */
export function malformed(file: string, what: string, hint?: string, cause?: unknown): NodeError {
  return new NodeError('MalformedBody', `${shown(file)}: ${what} Nothing was stored.`, {
    hint: hint ?? 'Check that the file was written and zipped to its end; ogrinfo -al -so tells what GDAL makes of it.',
    ...defined({ cause }),
  })
}
