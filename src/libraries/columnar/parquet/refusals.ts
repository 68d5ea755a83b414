// Why a Parquet file cannot be read: it is damaged, it is sound and has what is not read here, or a value does not fit its
// column. The caller that knows the column adds it.

import { DecodeError } from '../../base/errors.ts'

/** A file that is damaged, or says of itself what is not so. `reason` follows "it" or the name of a column. */
export class ParquetFault extends DecodeError {
  override readonly name: string = 'ParquetFault'
  readonly reason: string
  /** The column, where it is known: its name with those above it. */
  readonly column: string | undefined

  constructor(reason: string, column?: string) {
    super('Parquet file', column === undefined ? reason : `column "${column}" ${reason}`)
    this.reason = reason
    this.column = column
  }
}

/** A file that is well-formed as far as one can see, and has something that is not read: `reason` names it. */
export class UnsupportedParquet extends ParquetFault {
  override readonly name = 'UnsupportedParquet'
}

/** A value that its column cannot hold. `row` counts from where reading began. */
export class UnfitValue extends ParquetFault {
  override readonly name = 'UnfitValue'
  readonly kind: 'OutOfRange' | 'InvalidUtf8'
  readonly row: number

  constructor(kind: UnfitValue['kind'], row: number, reason: string) {
    super(reason)
    this.kind = kind
    this.row = row
  }
}

export function damaged(reason: string): never {
  throw new ParquetFault(reason)
}

export function unsupported(reason: string): never {
  throw new UnsupportedParquet(reason)
}

/** `error` as what is wrong with `column`, unless it names a column already or is of another kind. */
export function inColumn(error: unknown, column: string): unknown {
  if (!(error instanceof ParquetFault) || error.column !== undefined) return error
  return error instanceof UnsupportedParquet
    ? new UnsupportedParquet(error.reason, column)
    : new ParquetFault(error.reason, column)
}
