// Errors of a shapefile: each names the file in the zip, and the record where there is one.

import type { Limits } from '../../libraries/base/limits.ts'
import type { NodeError, RecordErrorKind } from '../../libraries/base/errors.ts'
import { malformedFile, type ZipHints, type ZipLimits } from '../../libraries/formats/zip.ts'

/** What reading a shapefile is bounded by. */
export type ShapefileLimits = ZipLimits & Pick<Limits, 'recordBytes' | 'columns'>

/** A fault of one record; the file may be read on after it. */
export interface RecordFault {
  readonly kind: RecordErrorKind
  readonly message: string
  readonly column?: string
  readonly excerpt?: string
  readonly hint?: string
}

const damaged = 'Check that the file was written and zipped to its end; ogrinfo -al -so tells what GDAL makes of it.'

export const zipHints: ZipHints = {
  whole: 'Send one zip with the .shp, .dbf, .prj and .cpg of a layer.',
  damaged,
  tooLarge: 'Send the features in several zips.',
}

/** The error for a file that is not what its name says. */
export function malformed(file: string, what: string, hint = damaged): NodeError {
  return malformedFile(file, what, hint)
}
