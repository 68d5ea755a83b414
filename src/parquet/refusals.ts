// Why a Parquet file cannot be read: it is damaged, or it is sound and has what is not read here. Who knows the column and
// the row group adds them.

import { DecodeError } from '../model/errors.ts'

/** A file that is well-formed as far as one can see, and has something that is not read: `reason` names it. */
export class UnsupportedParquet extends DecodeError {
  override readonly name = 'UnsupportedParquet'
}

/** The file is damaged, or says of itself what is not so. `reason` follows "it" or the name of a column. */
export function damaged(reason: string): never {
  throw new DecodeError('Parquet file', reason)
}

/** The file has what is not read here. `reason` follows "it" or the name of a column. */
export function unsupported(reason: string): never {
  throw new UnsupportedParquet('Parquet file', reason)
}

/** The reason of an error that one of the two made; undefined of any other. */
export function parquetReason(error: unknown): string | undefined {
  if (!(error instanceof DecodeError)) return undefined
  return error.message.slice(error.what.length + 2)
}
