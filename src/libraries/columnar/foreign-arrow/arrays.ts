// The arrays of a message: nodes and buffers, in the order of the fields, as values. Buffers that are too short for their rows,
// children of other lengths and wrong counts of nulls are found here; the values themselves are checked where they are read.
// Source: Apache Arrow columnar format, "Buffer listing for each layout" and "RecordBatch message".

import { countBits } from '../arrow/buffers.ts'
import { fixedWidth } from '../arrow/columns.ts'
import { longsOf, numbersOf } from '../arrow/numbers.ts'
import { nextTurn } from '../../base/clock.ts'
import type { DataType } from '../../model/schema.ts'
import type { Body } from './bodies.ts'
import { Date64Values, DecimalValues, HalfValues } from './converted-values.ts'
import { damaged } from './faults.ts'
import { GeometryValues } from './geometry.ts'
import {
  Dictionary,
  DictionaryValues,
  fixedRanges,
  type IntegerAt,
  ListValues,
  offsetRanges,
  RunValues,
  StructValues,
  viewRanges,
} from './nested-values.ts'
import { type ArrowField, type ArrowType, childrenOf, type StoredType, storageOf } from './types.ts'
import {
  type ArrowValues,
  BoolValues,
  BytesValues,
  FixedBytesValues,
  FixedValues,
  NullValues,
  OffsetReader,
  UuidValues,
  ViewValues,
} from './values.ts'

/** Dictionaries by their ids, as the messages so far have made them. */
export type Dictionaries = ReadonlyMap<number | bigint, Dictionary>

/** Bytes of a bitmap that are counted before others have their turn. */
const turnBytes = 4 * 1024 * 1024
const viewBytes = 16

/** Reads the arrays of one message. Methods throw DecodeError. */
export class ArrayReader {
  readonly #body: Body
  readonly #dictionaries: Dictionaries

  constructor(body: Body, dictionaries: Dictionaries) {
    this.#body = body
    this.#dictionaries = dictionaries
  }

  /** The next array, which must have `rows` rows, or where they are not given as many as its node says. */
  async read({ type, dictionary }: ArrowField, rows?: number): Promise<ArrowValues> {
    const node = this.#body.node()
    if (rows !== undefined && node.rows !== rows) {
      return damaged(`has an array of ${node.rows} rows where there are ${rows}`)
    }
    if (dictionary === undefined) return this.#values(type, node)
    const validity = await this.#validity(node)
    const indexes = await this.#fixed(node.rows, dictionary.index)
    const values = this.#dictionaries.get(dictionary.id) ?? new Dictionary()
    const index = new FixedValues(node.rows, validity, dictionary.index, indexes)
    return new DictionaryValues(index, integerAt(dictionary.index, indexes), values)
  }

  /** Passes over the next array. */
  skip({ type, dictionary }: ArrowField): void {
    const body = this.#body
    body.node()
    if (dictionary !== undefined) {
      body.skipBuffers(2)
      return
    }
    const stored = storageOf(type)
    body.skipBuffers(buffersOf(stored, body.isOld))
    if (stored.kind === 'views') body.skipBuffers(body.viewBuffers())
    for (const child of childrenOf(type)) this.skip(child)
  }

  async #values(type: ArrowType, node: Node): Promise<ArrowValues> {
    const { rows } = node
    if (type.kind === 'refused') throw type.error
    // Neither has a bitmap, whatever its node says.
    if (type.kind === 'null') return new NullValues(rows, undefined)
    if (type.kind === 'runs') return this.#runs(type, rows)
    if (type.kind === 'geometry') return new GeometryValues(await this.#values(type.storage, node), type.form)
    const validity = await this.#validity(node)
    switch (type.kind) {
      case 'bool':
        return new BoolValues(rows, validity, await this.#body.buffer((rows + 7) >> 3))
      case 'fixed':
        return new FixedValues(rows, validity, type.column, await this.#fixed(rows, type.column))
      case 'half':
        return new HalfValues(rows, validity, await this.#body.buffer(2 * rows))
      case 'date64':
        return new Date64Values(rows, validity, await this.#body.buffer(8 * rows))
      case 'decimal':
        return new DecimalValues(rows, validity, { ...type, values: await this.#body.buffer(type.width * rows) })
      case 'bytes': {
        const offsets = await this.#offsets(rows, rows + 1, type.offsetBytes)
        return new BytesValues(rows, validity, { isText: type.isText, offsets, values: await this.#body.buffer(0) })
      }
      case 'views':
        return new ViewValues(rows, validity, { isText: type.isText, ...(await this.#views(rows)) })
      case 'fixedBytes': {
        const values = await this.#body.buffer(type.width * rows)
        return type.isUuid
          ? new UuidValues(rows, validity, values)
          : new FixedBytesValues(rows, validity, type.width, values)
      }
      default:
        return this.#nested(type, rows, validity)
    }
  }

  async #nested(type: NestedType, rows: number, validity: Uint8Array | undefined): Promise<ArrowValues> {
    switch (type.kind) {
      case 'struct': {
        const children: { readonly name: string; readonly values: ArrowValues }[] = []
        for (const field of type.fields) children.push({ name: field.name, values: await this.read(field, rows) })
        return new StructValues(rows, validity, children)
      }
      case 'fixedList': {
        const items = await this.read(type.item)
        if (items.rows < rows * type.length) return damaged('has fewer items than its lists need')
        return new ListValues(rows, validity, fixedRanges(type.length), items)
      }
      default: {
        const { areViews, offsetBytes, item } = type
        const offsets = await this.#offsets(rows, areViews ? rows : rows + 1, offsetBytes)
        const ranges = areViews
          ? viewRanges(offsets, await this.#offsets(rows, rows, offsetBytes))
          : offsetRanges(offsets)
        return new ListValues(rows, validity, ranges, await this.read(item))
      }
    }
  }

  async #runs({ ends, values }: RunsType, rows: number): Promise<ArrowValues> {
    const { rows: runs, nulls } = this.#body.node()
    const type = ends.type.kind === 'fixed' ? ends.type.column : damaged('has ends of runs that are no integers')
    if ((await this.#validity({ rows: runs, nulls })) !== undefined) return damaged('has ends of runs that are null')
    const endAt = integerAt(type, await this.#fixed(runs, type))
    const runValues = await this.read(values)
    if (runValues.rows < runs) return damaged('has fewer values than runs')
    return new RunValues(rows, runs, endAt, runValues)
  }

  async #views(rows: number): Promise<{ readonly views: Uint8Array; readonly buffers: readonly Uint8Array[] }> {
    const views = await this.#body.buffer(viewBytes * rows)
    const buffers: Uint8Array[] = []
    for (let count = this.#body.viewBuffers(); count > 0; count--) buffers.push(await this.#body.buffer(0))
    return { views, buffers }
  }

  /** The bitmap of an array; undefined where all rows are present. */
  async #validity({ rows, nulls }: Node): Promise<Uint8Array | undefined> {
    const bits = await this.#body.buffer(0)
    if (bits.length === 0) return nulls === 0 ? undefined : damaged('has nulls and no bitmap that says which')
    if (bits.length * 8 < rows) return damaged('has a bitmap that is shorter than its rows')
    let present = 0
    for (let at = 0; 8 * at < rows; at += turnBytes) {
      if (at > 0) await nextTurn()
      present += countBits(bits.subarray(at, at + turnBytes), Math.min(rows - 8 * at, 8 * turnBytes))
    }
    if (rows - present !== nulls) return damaged(`has ${rows - present} nulls where ${nulls} were announced`)
    return nulls === 0 ? undefined : bits
  }

  #fixed(rows: number, type: DataType): Promise<Uint8Array> {
    return this.#body.buffer(rows * (fixedWidth(type) ?? 0))
  }

  async #offsets(rows: number, count: number, offsetBytes: 4 | 8): Promise<OffsetReader> {
    return new OffsetReader(await this.#body.buffer(rows === 0 ? 0 : count * offsetBytes), count, offsetBytes)
  }
}

interface Node {
  readonly rows: number
  readonly nulls: number
}

type NestedType = Extract<ArrowType, { readonly kind: 'struct' | 'list' | 'fixedList' }>
type RunsType = Extract<ArrowType, { readonly kind: 'runs' }>

/** Buffers of an array itself: without those of its children, and without what views point to. Old unions have a bitmap. */
function buffersOf(type: StoredType, isOld: boolean): number {
  switch (type.kind) {
    case 'null':
    case 'runs':
      return 0
    case 'struct':
    case 'fixedList':
      return 1
    case 'list':
      return type.areViews ? 3 : 2
    case 'bytes':
      return 3
    case 'union':
      return (isOld ? 1 : 0) + (type.isDense ? 2 : 1)
    default:
      return 2
  }
}

/** Reads integers of `type`; those beyond 2^53 come out as others, which are beyond any number of rows. */
function integerAt(type: DataType, values: Uint8Array): IntegerAt {
  const integers = numbersOf({ type, values }) ?? longsOf({ type, values })
  return (row) => Number(integers[row] ?? -1)
}
