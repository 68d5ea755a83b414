// A task of a thread: it reads the rows of a body, and makes messages for the log of them.

import { broughtRows, cellsOf, fieldsAt } from '../arrow/brought-rows.ts'
import { batchBytes } from '../arrow/columns.ts'
import { arrowBatchMessages } from '../arrow/ipc.ts'
import type { RecordReader, StreamFormat } from '../formats/format.ts'
import { SentRows } from '../formats/sent-rows.ts'
import { must } from '../lib/assert.ts'
import type { RecordBatch } from '../model/schema.ts'
import type { BodySettings, FromBodyRows, RowMessages, ToBodyRows } from './tasks.ts'

/** Loads a format and nothing else. */
export async function loadFormat({ name, module }: BodySettings['format']): Promise<StreamFormat> {
  const exported: object = await import(module)
  const isWanted = (one: object): one is StreamFormat => 'name' in one && one.name === name && 'createReader' in one
  return must(Object.values(exported).find(isWanted), 'the module exports the format')
}

/** What a thread holds of a body: its reader. */
export class BodyTask {
  readonly #reader: RecordReader
  readonly #settings: BodySettings
  readonly #sent: SentRows

  constructor(format: StreamFormat, settings: BodySettings) {
    this.#reader = format.createReader(settings.options)
    this.#settings = settings
    this.#sent = new SentRows(settings.sent)
  }

  /** Throws as the reader: it is used up then. */
  take(message: ToBodyRows): FromBodyRows {
    const reader = this.#reader
    if (message.kind === 'bytes') {
      reader.push(message.bytes)
      return { rows: this.#messagesOf(reader.take()), fits: reader.fits, block: message.bytes }
    }
    const { batches, ...ended } = reader.finish()
    const rows = this.#messagesOf(batches)
    return { rows, fits: reader.fits, ended: { ...ended, ...this.#sent.facts } }
  }

  #messagesOf(batches: readonly RecordBatch[]): RowMessages[] {
    const { fields } = this.#settings
    return batches.map((batch) => {
      const brought = broughtRows(this.#sent.take(batch))
      const { rows, places } = brought
      const messages = arrowBatchMessages(fieldsAt(fields, places), brought)
      return { rows, places, bytes: batchBytes(brought), cells: cellsOf(brought), messages }
    })
  }
}
