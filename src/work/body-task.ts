// A task of a thread: it reads the rows of a body.

import type { RecordReader } from '../formats/format.ts'
import { formatNamed } from '../formats/registry.ts'
import { must } from '../lib/assert.ts'
import type { BodySettings, FromBodyRows, ToBodyRows } from './tasks.ts'

/** What a thread holds of a body: its reader. */
export class BodyTask {
  readonly #reader: RecordReader

  constructor({ format: name, options }: BodySettings) {
    const format = formatNamed(name)
    this.#reader = must(format.kind === 'stream' ? format : undefined, 'a format that is a stream').createReader(
      options,
    )
  }

  /** Throws as the reader: it is used up then. */
  take(message: ToBodyRows): FromBodyRows {
    const reader = this.#reader
    if (message.kind === 'bytes') {
      reader.push(message.bytes)
      return { batches: reader.take(), fits: reader.fits, block: message.bytes }
    }
    const { batches, ...ended } = reader.finish()
    return { batches, fits: reader.fits, ended }
  }
}
