// What a caller is told about a Parquet file: what is wrong, in which column, row group and page, and what to do.

import { NodeError, type RecordErrorKind } from '../../model/errors.ts'
import { parquetReason, UnsupportedParquet } from '../../parquet/refusals.ts'

/** Where a fault is. Numbers count from 0. */
export interface Place {
  readonly column?: string
  readonly rowGroup?: number
  readonly page?: number
}

const rewriteHint =
  'Write the file anew, for example with pyarrow.parquet.write_table(pyarrow.parquet.read_table(path), path).'

/** The error for what was thrown while the file was read at `place`; errors that are complete are handed through. */
export function located(error: unknown, place: Place): unknown {
  const reason = parquetReason(error)
  if (reason === undefined) return error
  const { column, rowGroup, page } = place
  const where = [
    column === undefined ? 'The file' : `The column ${JSON.stringify(shortened(column))}`,
    rowGroup === undefined ? '' : ` of row group ${rowGroup}`,
    page === undefined || page < 0 ? '' : ` (page ${page})`,
  ].join('')
  const text = `${where} ${reason}. Nothing was stored.`
  return error instanceof UnsupportedParquet
    ? new NodeError('UnsupportedEncoding', text, { hint: rewriteHint, cause: error })
    : new NodeError('MalformedBody', text, {
        hint: 'The file is damaged or was cut off. Send it again, with Content-Digest, or write it anew.',
        cause: error,
      })
}

function shortened(name: string): string {
  return name.length <= 80 ? name : `${name.slice(0, 80)}…`
}

/** The error for a value that its column cannot hold; `record` is its row in the file. */
export function valueFault(kind: RecordErrorKind, record: number, column: string, message: string): NodeError {
  return new NodeError('RecordsDoNotFit', `${message} Nothing was stored.`, {
    errors: [{ record, column, kind, message }],
    errorsTotal: 1,
  })
}
