// The errors of a Parquet file: what is wrong, in which column, row group and page, and what to do.

import { shortened } from '../../base/shortened.ts'
import { DecodeError, NodeError, type RecordErrorKind } from '../../base/errors.ts'
import { ParquetFault, UnsupportedParquet } from '../parquet/refusals.ts'

/** Where a fault is. Numbers count from 0. */
export interface Place {
  readonly column?: string
  readonly rowGroup?: number
  readonly page?: number
}

const rewriteHint =
  'Write the file anew, for example with pyarrow.parquet.write_table(pyarrow.parquet.read_table(path), path).'

/** What to do about a column whose type stays what it is when the same file is written anew. */
export const castHint =
  'Cast the column before the file is written, with pyarrow: durations and times of days to int64, long decimals to string.'

/** The error for a file that is damaged, or says of itself what is not so. `reason` follows the name of the place. */
export function malformed(place: Place, reason: string, cause?: unknown): NodeError {
  return new NodeError('MalformedBody', `${placeText(place)} ${reason}. Nothing was stored.`, {
    hint: 'The file is damaged or was cut off. Send it again, with Content-Digest, or write it anew.',
    cause,
  })
}

/** The error for a file that is sound and has what is not read here. */
export function notRead(place: Place, reason: string, cause?: unknown, hint = rewriteHint): NodeError {
  return new NodeError('UnsupportedEncoding', `${placeText(place)} ${reason}. Nothing was stored.`, { hint, cause })
}

/** The error for what was thrown while the file was read at `place`; errors that are complete are handed through. */
export function located(error: unknown, place: Place): unknown {
  if (!(error instanceof DecodeError)) return error
  const isOurs = error instanceof ParquetFault
  const at = isOurs && error.column !== undefined ? { ...place, column: error.column } : place
  const reason = isOurs ? error.reason : error.message.slice(error.what.length + 2)
  return error instanceof UnsupportedParquet ? notRead(at, reason, error) : malformed(at, reason, error)
}

function placeText({ column, rowGroup, page }: Place): string {
  const group = rowGroup === undefined ? '' : `row group ${rowGroup}`
  const where = page === undefined || page < 0 ? group : `${group}, page ${page}`
  if (column !== undefined)
    return `The column ${JSON.stringify(shortened(column, 80))}${where === '' ? '' : ` (${where})`}`
  return where === '' ? 'The file' : `The file (${where})`
}

/** The error for a value that its column cannot hold; `record` is its row in the file. */
export function valueFault(kind: RecordErrorKind, record: number, column: string, message: string): NodeError {
  return new NodeError('RecordsDoNotFit', `${message} Nothing was stored.`, {
    errors: [{ record, column, kind, message }],
    errorsTotal: 1,
  })
}
