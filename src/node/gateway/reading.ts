// A body being read into typed rows, against columns that are known.

import { defined } from '../../libraries/base/collections.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Hash } from '../../libraries/base/ids/identifiers.ts'
import { broughtRows } from '../../libraries/columnar/arrow/brought-rows.ts'
import type { Offer } from '../../libraries/formats/dialect/offers.ts'
import type {
  CsvHeader,
  FileReader,
  Inferred,
  Misfits,
  SkippedLines,
  StreamFormat,
} from '../../libraries/formats/format.ts'
import { type SentFacts, SentRows } from '../../libraries/formats/sent-rows.ts'
import { type BodySource, readerOptions, sentRowsOptions } from './reader-options.ts'
import { type ReadRows, type RowReader, rowReader } from './row-reader.ts'
import type { Shape, Target } from './shape.ts'
import { type TypedRows, typedRowsOf } from './typed-rows.ts'

/** A body in which every record fits. */
export interface TypedBody extends SentFacts {
  readonly rows: number
  /** Event time (never null), then user columns. The caller discards them. */
  readonly typed: TypedRows
  /** sha2-256: processors have it in hardware. */
  readonly bodyHash: Hash
  /** Inflated size. */
  readonly bytes: number
  readonly csvHeader?: CsvHeader | undefined
  /** Records that were left out, where the request asks for that. */
  readonly misfits?: Misfits
  /** What the rows were read against; another than that of the target when columns were inferred. */
  readonly shape: Shape
  /** What was changed or is doubted of it (libraries/base/warnings.ts). */
  readonly warnings: readonly string[]
  /** The field that was taken as event time though nobody named it: a rule of the dataset that it makes. */
  readonly takenTime?: string
  /** Dialects under which more of it would be numbers, days or times. */
  readonly offers?: readonly Offer[]
  /** Rows whose event time is an epoch in January 1970. */
  readonly earlyRows?: number
  /** Lines that were left out. */
  readonly skipped?: SkippedLines
  /** Where columns were inferred: the bytes, to be read again where the dataset turns out to have others. */
  readonly kept?: KeptBytes
}

/** The bytes of a body, for as long as it may have to be read against another schema. */
export interface KeptBytes {
  /** Reads it against `target`; what was read before is freed. Throws as `typedBody`. */
  read(target: Target): Promise<TypedBody>
  /** Frees memory and files. Idempotent. */
  discard(): Promise<void>
}

export interface BodyFacts {
  readonly bodyHash: Hash
  /** Inflated size. */
  readonly bytes: number
}

/** What a body is read against, and how much is known of it. */
interface Against {
  readonly shape: Shape
  /** What has made the shape, if anything. */
  readonly inferred?: Inferred | undefined
  /** Of the body, where they were found before. */
  readonly facts?: Partial<BodyFacts>
}

/** A body being read into rows. */
export class Reading {
  readonly #reader: RowReader
  readonly #against: Against
  readonly #typed: TypedRows
  #bytes = 0

  constructor(source: BodySource, format: StreamFormat, against: Against) {
    const { shape, inferred, facts } = against
    this.#against = against
    this.#typed = typedRowsOf(source, shape)
    const settings = {
      options: readerOptions(source, shape, inferred),
      sent: sentRowsOptions(source, shape, inferred),
      fields: shape.payloadFields,
      isHashed: facts?.bodyHash === undefined,
    }
    const { threads, controls } = source
    this.#reader = rowReader(format, settings, { threads, bytes: facts?.bytes ?? controls.contentLength })
  }

  /** Whether all records have fitted so far. */
  get fits(): boolean {
    return this.#reader.fits
  }

  /** How many rows have come of them. */
  get rows(): number {
    return this.#typed.rows
  }

  /** Takes the next bytes, which are gone from the caller's hands, and lets go of the rows that are complete. */
  push(chunk: Uint8Array): Promise<unknown> | undefined {
    this.#bytes += chunk.length
    // A small body is read at once, and waits for nothing.
    const read = this.#reader.push(chunk)
    return read instanceof Promise ? read.then((rows) => this.#add(rows)) : this.#add(read)
  }

  /** Takes the end of the body. `onHash` is called once its hash is known, before the last records are judged. */
  async end(onHash?: (hash: Hash) => void): Promise<TypedBody> {
    const { shape, inferred, facts } = this.#against
    const bodyHash = facts?.bodyHash ?? (await this.#reader.hash())
    onHash?.(bodyHash)
    const finished = this.#reader.finish()
    const ended = finished instanceof Promise ? await finished : finished
    this.#reader.end()
    const adding = this.#add(ended.rows)
    if (adding !== undefined) await adding
    const { records, rows: _, warnings = [], ...told } = ended
    return {
      ...told,
      ...ofShape({ shape, inferred }, warnings),
      rows: records,
      typed: this.#typed,
      bodyHash,
      bytes: this.#bytes,
    }
  }

  async discard(): Promise<void> {
    this.#reader.end()
    await this.#typed.discard()
  }

  #add(rows: readonly ReadRows[]): Promise<unknown> | undefined {
    return rows.length === 0 ? undefined : this.#typed.add(rows)
  }
}

/** Reads `chunks`, which are gone from the caller's hands, as a whole body. */
export async function readAll(
  reading: Reading,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<TypedBody> {
  try {
    for await (const chunk of chunks) await reading.push(chunk)
    return await reading.end()
  } catch (error) {
    await reading.discard()
    throw error
  }
}

/** What `work` gives where the body has no fault and all records fit; else undefined, and the reading is discarded. */
export async function unlessFaulty<T>(reading: Reading, work: () => Promise<T>): Promise<T | undefined> {
  try {
    const result = await work()
    if (reading.fits) return result
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
  }
  await reading.discard()
  return undefined
}

/** All rows of a file against `shape`. */
export async function readRows(
  source: BodySource,
  file: Against & { readonly reader: FileReader },
  facts: BodyFacts,
): Promise<TypedBody> {
  const { reader, shape, inferred } = file
  const typed = typedRowsOf(source, shape, facts.bytes)
  const sent = new SentRows(sentRowsOptions(source, shape, inferred))
  let rows = 0
  try {
    for await (const batch of reader.read(readerOptions(source, shape, inferred))) {
      rows += batch.rows
      await typed.add([broughtRows(sent.take(batch))])
    }
    return { rows, typed, ...ofShape(file, reader.warnings), ...sent.finish(), ...facts }
  } catch (error) {
    await typed.discard()
    throw error
  }
}

function ofShape(
  { shape, inferred }: Against,
  warnings: readonly string[] = [],
): Pick<TypedBody, 'shape' | 'warnings' | 'takenTime'> {
  return {
    shape,
    warnings: [...(inferred?.warnings ?? []), ...warnings],
    ...defined({ takenTime: inferred?.eventTime }),
  }
}
