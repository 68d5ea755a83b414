// From the body of a request to typed columns: read, inflate, count, hash, infer where asked, parse.
// A body is read to its end and found right before anything of it reaches the log.

import { Readable } from 'node:stream'
import { createSha3256 } from '../codec/native-crypto.ts'
import { hashText, sha3Hash } from '../codec/multihash.ts'
import { createInferrer, createReader, fillEventTime } from '../formats/formats.ts'
import type { CsvHeader, Format, FormatOptions, Inferred, ReaderOptions } from '../formats/reader.ts'
import type { Limits } from '../lib/limits.ts'
import { NodeError } from '../model/errors.ts'
import type { Hash } from '../model/events.ts'
import type { RecordBatch } from '../model/record-batch.ts'
import { type Vocabulary, defaultVocabulary } from '../model/schema.ts'
import type { IngestControls } from './controls.ts'
import { bodyChunks, tooLarge } from './read-body.ts'
import { type Shape, fullSchema, shapeOf } from './shape.ts'
import { Spool } from './spool.ts'

/** Bodies up to this size are read whole before they are parsed. */
const wholeBodyBytes = 64 * 1024

export interface BodySource {
  readonly stream: Readable
  readonly format: Format
  readonly csvHeader: CsvHeader | undefined
  readonly controls: IngestControls
  readonly limits: Limits
  /** Directory for what does not fit in memory. */
  readonly spoolDir: string
  /** Event time of records that have none, milliseconds since 1970 UTC. */
  readonly fallbackMs: number
}

/** A body in which every record fits. */
export interface TypedBody {
  readonly rows: number
  /** Event time (never null), then user columns. */
  readonly batches: readonly RecordBatch[]
  readonly bodyHash: Hash
  /** Inflated size. */
  readonly bytes: number
  readonly csvHeader: CsvHeader | undefined
  /** What the rows were read against; another than that of the dataset when columns were inferred. */
  readonly shape: Shape
  /** True when `shape.schema` is not yet the dataset's. */
  readonly schemaIsNew: boolean
}

/** Reads the body against `shape`; undefined, or `unknownFields=add`, infers columns first. Throws NodeErrors of contract.md §6. */
export async function typedBody(source: BodySource, shape: Shape | undefined): Promise<TypedBody> {
  const { controls, limits } = source
  if ((controls.contentLength ?? 0) > limits.bodyBytes) throw tooLarge('bodyBytes', limits.bodyBytes)
  const known = shape?.schema === undefined ? undefined : shape
  const infers = known === undefined || controls.unknownFields === 'add'
  if (!infers) return readAgainst(source, known)
  const spool = new Spool(source.spoolDir)
  try {
    const hash = createSha3256()
    for await (const chunk of bodyChunks(source.stream, controls.contentEncoding, limits)) {
      hash.update(chunk)
      await spool.append(chunk)
    }
    const inferred = await infer(source, known, spool)
    const target = targetShape(inferred, shape)
    const reader = createReader(source.format, readerOptions(source, target, inferred.valueless, inferred.csvHeader))
    for await (const piece of spool.pieces()) reader.push(piece)
    return finished(reader.finish(), source, {
      shape: target,
      schemaIsNew: target !== known,
      bodyHash: hashText(hash.digest()),
      bytes: spool.bytes,
    })
  } finally {
    await spool.discard()
  }
}

async function readAgainst(source: BodySource, shape: Shape): Promise<TypedBody> {
  const { controls, limits } = source
  const reader = createReader(source.format, readerOptions(source, shape, undefined, source.csvHeader))
  if (
    controls.contentEncoding === undefined &&
    (controls.contentLength ?? Number.POSITIVE_INFINITY) <= wholeBodyBytes
  ) {
    const body = await readWhole(source.stream)
    if (body.length > 0) reader.push(body)
    return finished(reader.finish(), source, {
      shape,
      schemaIsNew: false,
      bodyHash: sha3Hash(body),
      bytes: body.length,
    })
  }
  const hash = createSha3256()
  let bytes = 0
  for await (const chunk of bodyChunks(source.stream, controls.contentEncoding, limits)) {
    hash.update(chunk)
    bytes += chunk.length
    reader.push(chunk)
  }
  return finished(reader.finish(), source, { shape, schemaIsNew: false, bodyHash: hashText(hash.digest()), bytes })
}

function finished(
  parsed: { readonly records: number; readonly batches: readonly RecordBatch[]; readonly csvHeader?: CsvHeader },
  source: BodySource,
  facts: Pick<TypedBody, 'shape' | 'schemaIsNew' | 'bodyHash' | 'bytes'>,
): TypedBody {
  return {
    rows: parsed.records,
    batches: parsed.batches.map((batch) => fillEventTime(batch, source.fallbackMs)),
    csvHeader: parsed.csvHeader,
    ...facts,
  }
}

async function infer(source: BodySource, known: Shape | undefined, spool: Spool): Promise<Inferred> {
  const vocabulary = known?.vocabulary ?? defaultVocabulary
  const inferrer = createInferrer(source.format, {
    ...formatOptions(source, vocabulary, source.csvHeader),
    columns: source.limits.columns,
    ...(source.controls.integers === undefined ? {} : { integers: source.controls.integers }),
    ...(known === undefined ? {} : { known: known.payloadFields.slice(1), eventTimeType: known.eventTimeType }),
  })
  for await (const piece of spool.pieces()) if (!inferrer.push(piece)) break
  const inferred = inferrer.finish()
  if (inferred.records === 0 && known === undefined) {
    throw new NodeError(
      'NothingToInfer',
      'The body has no records, so there are no columns to create the dataset with.',
      {
        hint: 'Send records, or declare the schema with PUT.',
      },
    )
  }
  return inferred
}

function targetShape(inferred: Inferred, shape: Shape | undefined): Shape {
  if (shape?.schema !== undefined && inferred.added.length === 0) return shape
  const base = shape?.schema
  const schema =
    base === undefined
      ? fullSchema(inferred.fields, {
          eventTimeType: inferred.eventTimeType,
          ...(shape === undefined ? {} : { vocabulary: shape.vocabulary }),
        })
      : { ...base, fields: [...base.fields, ...inferred.added] }
  return shapeOf(schema, shape?.schemaSequence ?? -1, shape?.vocabulary ?? defaultVocabulary)
}

function readerOptions(
  source: BodySource,
  shape: Shape,
  valueless: readonly string[] | undefined,
  csvHeader: CsvHeader | undefined,
): ReaderOptions {
  return {
    ...formatOptions(source, shape.vocabulary, csvHeader),
    fields: shape.fields,
    eventTimeType: shape.eventTimeType,
    unknownFields: source.controls.unknownFields === 'ignore' ? 'ignore' : 'reject',
    ...(valueless === undefined ? {} : { valueless }),
  }
}

function formatOptions(source: BodySource, vocabulary: Vocabulary, csvHeader: CsvHeader | undefined): FormatOptions {
  const { controls, limits } = source
  return {
    vocabulary,
    recordBytes: limits.recordBytes,
    jsonDepth: limits.jsonDepth,
    ...(controls.timeZone === undefined ? {} : { timeZone: controls.timeZone }),
    ...(controls.eventTimeUnit === undefined ? {} : { eventTimeUnit: controls.eventTimeUnit }),
    ...(csvHeader === undefined ? {} : { csvHeader }),
  }
}

/** All bytes of a small body, without the cost of an async iterator. */
function readWhole(stream: Readable): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    const ended = (cause?: unknown): void => {
      if (cause instanceof NodeError) return reject(cause)
      reject(
        new NodeError('MalformedBody', 'The body ended before its end.', {
          hint: 'Send it again; nothing was stored.',
          cause,
        }),
      )
    }
    stream.on('data', (chunk: Uint8Array) => chunks.push(chunk))
    stream.on('end', () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)))
    stream.on('error', ended)
    stream.on('close', () => {
      if (!stream.readableEnded) ended()
    })
  })
}
