// Memory that moves with a message between threads. Nothing is found by looking: it is named.

import { copyBytes } from '../../../libraries/base/bytes.ts'
import type { Column } from '../../../libraries/model/schema.ts'

/**
 * What a message hands over: arrays that its sender names, one by one, and has no more once it is sent. Whatever else is in
 * the message is copied.
 */
export class Handover {
  readonly #buffers = new Set<ArrayBuffer>()

  /** To be transferred. */
  get buffers(): ArrayBuffer[] {
    return [...this.#buffers]
  }

  /** The array for the message: itself where it is all of its buffer, else a copy, since others have parts of that. */
  take<T extends Uint8Array | Int32Array>(array: T): T {
    const isWhole = array.byteLength === array.buffer.byteLength && array.buffer instanceof ArrayBuffer
    // `as`: a copy of the same type. That of a Buffer would be none.
    const own = isWhole ? array : ((array instanceof Int32Array ? array.slice() : copyBytes(array)) as T)
    // Arrays of no bytes are often one for all.
    if (own.byteLength > 0 && own.buffer instanceof ArrayBuffer) this.#buffers.add(own.buffer)
    return own
  }

  /** The same of all arrays of a column. */
  column({ validity, values, offsets, child, ...rest }: Column): Column {
    return {
      ...rest,
      values: this.take(values),
      ...(validity !== undefined && { validity: this.take(validity) }),
      ...(offsets !== undefined && { offsets: this.take(offsets) }),
      ...(child !== undefined && { child: this.column(child) }),
    }
  }
}
