// The errors of an Arrow stream or file: what is wrong, in which column and record batch, and what to do.

import { shortened } from '../../base/shortened.ts'
import { DecodeError, NodeError } from '../../base/errors.ts'

const what = 'Arrow data'
/** What errors of FlatBuffers name: those of messages, and of the footer of a file. */
export const messageTables = 'Arrow message'
export const footerTables = 'Arrow footer'

/** Data that are well-formed as far as one can see, and have something that is not read. */
export class UnsupportedArrow extends DecodeError {
  override readonly name = 'UnsupportedArrow'

  constructor(reason: string) {
    super(what, reason)
  }
}

/** The data are damaged, or say of themselves what is not so. `reason` follows "The body" or "The column …". */
export function damaged(reason: string): never {
  throw new DecodeError(what, reason)
}

/** The data have what is not read here. `reason` follows "The body" or "The column …". */
export function unsupported(reason: string): never {
  throw new UnsupportedArrow(reason)
}

/** Where a fault is. Batches count from 0, dictionaries apart. */
export interface Place {
  readonly column?: string
  readonly batch?: number
}

/** The error for what was thrown at `place`; errors that are complete are handed through. */
export function located(error: unknown, place: Place): unknown {
  return error instanceof DecodeError ? told(error, place) : error
}

/** What a caller is told of an error at its place. */
export function told(error: DecodeError, { column, batch }: Place): NodeError {
  const of = batch === undefined ? '' : ` of record batch ${batch}`
  const subject =
    column !== undefined
      ? `The column ${shown(column)}${of}`
      : batch === undefined
        ? 'The body'
        : `Record batch ${batch}`
  const isOfTables = error.what === messageTables || error.what === footerTables
  const reason = isOfTables ? `has damaged metadata: ${error.message}` : error.message.slice(error.what.length + 2)
  const text = `${subject} ${reason}. Nothing was stored.`
  return error instanceof UnsupportedArrow
    ? new NodeError('UnsupportedEncoding', text, {
        hint: 'Convert it before it is sent, for example with pyarrow: cast the column, or write the table with pyarrow.ipc.new_stream.',
        cause: error,
      })
    : new NodeError('MalformedBody', text, {
        hint: 'The body is damaged or was cut off. Send it again, or write it anew, for example with pyarrow.ipc.new_stream.',
        cause: error,
      })
}

/** What the work comes to; what it throws is told with its place. */
export async function at<T>(place: Place, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw located(error, place)
  }
}

/** A name as a caller sees it, short. */
export function shown(name: string): string {
  return JSON.stringify(shortened(name, 80))
}
