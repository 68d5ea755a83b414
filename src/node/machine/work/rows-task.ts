// A task of a thread: it reads the Arrow stream of a large batch part after part, and hashes and encodes its columns in row groups.

import { must } from '../../../libraries/base/assert.ts'
import { ArrowStreamReader } from '../../../libraries/columnar/arrow/ipc-reader.ts'
import { AlignedRows } from '../../../libraries/columnar/parquet/aligned-rows.ts'
import { isWide, OwnColumns } from '../../../libraries/columnar/parquet/own-columns.ts'
import { type EncodedGroup, type GroupedRows, RowGroups } from '../../../libraries/columnar/parquet/row-groups.ts'
import type { Field } from '../../../libraries/model/schema.ts'
import type { Compress } from './column-task.ts'
import type { Handover } from './handover.ts'

/** The columns of the block without those that the builder adds; where it has none yet they are those of the stream. */
export interface RowsSettings {
  readonly fields: readonly Field[] | undefined
}

/** The next part of the stream, or the end of it. */
export type ToRows = { readonly kind: 'part'; readonly payload: Uint8Array } | { readonly kind: 'end' }

/** Row groups that are complete, of `fields`; `ended` answers the end. Rows that are too wide for a thread have none. */
export type FromRows =
  | { readonly kind: 'groups'; readonly groups: readonly EncodedGroup[]; readonly ended?: EndedRows }
  | { readonly kind: 'too wide' }

export interface EndedRows extends GroupedRows {
  readonly fields: readonly Field[]
}

/** Where rows go, once the columns are known. */
interface Into {
  readonly fields: readonly Field[]
  readonly aligned: AlignedRows
  readonly groups: RowGroups
}

export class RowsTask {
  readonly #settings: RowsSettings
  readonly #compress: Compress
  readonly #stream = new ArrowStreamReader()
  #into: Into | undefined
  /** Not handed over yet. */
  #groups: EncodedGroup[] = []

  /** `compress`: Zstandard. */
  constructor(settings: RowsSettings, compress: Compress) {
    this.#settings = settings
    this.#compress = compress
  }

  /** Throws DecodeError for what is no stream of rows under the columns. */
  async take(message: ToRows, over: Handover): Promise<FromRows> {
    if (message.kind === 'end') {
      this.#stream.end()
      const { fields, groups } = must(this.#into, 'a batch has rows')
      const ended = { ...(await groups.finish()), fields }
      return { kind: 'groups', groups: this.#handed(over), ended }
    }
    for (const batch of this.#stream.push(message.payload)) {
      this.#into ??= this.#begun()
      if (this.#into === undefined) return { kind: 'too wide' }
      for (const piece of this.#into.aligned.pieces(batch)) await this.#into.groups.add(piece)
    }
    return { kind: 'groups', groups: this.#handed(over) }
  }

  #begun(): Into | undefined {
    const fields = this.#settings.fields ?? this.#stream.fields ?? []
    if (isWide(fields)) return undefined
    const columns = new OwnColumns(fields, this.#compress)
    const take = async (group: EncodedGroup): Promise<void> => void this.#groups.push(group)
    return { fields, aligned: new AlignedRows(fields), groups: new RowGroups({ columns, take }) }
  }

  #handed(over: Handover): EncodedGroup[] {
    return this.#groups.splice(0).map(({ rows, chunks }) => {
      const own = chunks.map((chunk) => ({ ...chunk, parts: chunk.parts.map((part) => over.take(part)) }))
      return { rows, chunks: own }
    })
  }
}
