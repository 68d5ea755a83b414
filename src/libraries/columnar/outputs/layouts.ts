// The JSON layouts: how the rows of an answer that can be signed are laid out, one object each. They stand first in the
// list of formats.ts; proofs know no others. Pure.

import { ByteBuffer } from '../../base/byte-buffer.ts'
import { copyBytes, utf8 } from '../../base/bytes.ts'
import type { CellWriter } from './cells.ts'

/** Rows of an answer that follow one another. */
export interface OutputRows {
  readonly count: number
  /** The writer of the cells of a column (in the order of the keys) into `out`; their values are read when it is made. */
  cells(column: number, out: ByteBuffer): CellWriter
}

/** Where the text of an answer goes. Both methods throw once it is too large. */
export interface OutputSink {
  /** Takes bytes that nobody changes any more. */
  write(bytes: Uint8Array): void
  /** Counts bytes that are not written yet, so that the bound holds before memory is full. */
  check(waitingBytes: number): void
}

/** An answer that is being written. */
export interface OutputWriter {
  rows(rows: OutputRows): void
  end(): void
}

/** A layout of rows inside the JSON of an answer. */
export interface JsonLayout {
  readonly kind: 'json'
  /** As answers say it. */
  readonly name: string
  /** Other spellings in requests and signed inputs. */
  readonly spellings: readonly string[]
  readonly mediaTypes: readonly string[]
  /** Columns are told apart by name: two of one name have no place, and their order means nothing. */
  readonly isKeyed: boolean
  /** Structs inside a value are arrays of their members' values, as rows are; else they are objects. */
  readonly structsAsArrays: boolean
  /** `keys`: the columns' names as JSON text and a colon. */
  begin(sink: OutputSink, keys: readonly string[]): OutputWriter
}

const json = ['application/json; charset=utf-8']

const startBytes = 4096

/** An array of rows, each between two brackets, with a text before each value. */
function beginRows(
  sink: OutputSink,
  prefixes: readonly string[],
  [open, close]: readonly [string, string],
): OutputWriter {
  const before = prefixes.map((prefix, column) => utf8((column === 0 ? '' : ',') + prefix))
  const out = new ByteBuffer(startBytes)
  let separator = open
  out.ascii('[')
  return {
    rows: ({ count, cells }) => {
      const writers = before.map((_, column) => cells(column, out))
      for (let row = 0; row < count; row++) {
        out.ascii(separator)
        for (let column = 0; column < writers.length; column++) {
          const prefix = before[column]
          if (prefix !== undefined) out.raw(prefix)
          writers[column]?.(row)
        }
        out.ascii(close)
        separator = `,${open}`
        sink.check(out.at)
      }
      sink.write(copyBytes(out.bytes, 0, out.at))
      out.at = 0
    },
    end: () => {
      out.ascii(']')
      sink.write(out.bytes.subarray(0, out.at))
    },
  }
}

/** An array of arrays of values. */
const jsonAoa: JsonLayout = {
  kind: 'json',
  name: 'JsonAoa',
  spellings: ['JsonAoA', 'jsonaoa', 'json-aoa'],
  mediaTypes: json,
  isKeyed: false,
  structsAsArrays: true,
  begin: (sink, keys) => {
    const prefixes = keys.map(() => '')
    return beginRows(sink, prefixes, ['[', ']'])
  },
}

/** An array of objects. */
const jsonAos: JsonLayout = {
  kind: 'json',
  name: 'JsonAos',
  spellings: ['JsonAoS', 'jsonaos', 'json-aos'],
  mediaTypes: json,
  isKeyed: true,
  structsAsArrays: false,
  begin: (sink, keys) => beginRows(sink, keys, ['{', '}']),
}

/** An object of arrays, one for each column; without rows it is empty. */
const jsonSoa: JsonLayout = {
  kind: 'json',
  name: 'JsonSoa',
  spellings: ['JsonSoA', 'jsonsoa', 'json-soa'],
  mediaTypes: json,
  isKeyed: true,
  structsAsArrays: false,
  begin: (sink, keys) => {
    const columns = keys.map((key, at) => ({ start: utf8(`${at === 0 ? '{' : ','}${key}[`), out: new ByteBuffer(64) }))
    let waitingBytes = 0
    return {
      rows: ({ count, cells }) => {
        for (const [at, { out }] of columns.entries()) {
          const writtenBefore = out.at
          const write = cells(at, out)
          for (let row = 0; row < count; row++) {
            if (out.at > 0) out.ascii(',')
            write(row)
            sink.check(waitingBytes + out.at - writtenBefore)
          }
          waitingBytes += out.at - writtenBefore
        }
      },
      end: () => {
        const isEmpty = waitingBytes === 0
        for (const { start, out } of isEmpty ? [] : columns) {
          out.ascii(']')
          sink.write(start)
          sink.write(out.bytes.subarray(0, out.at))
        }
        sink.write(utf8(isEmpty ? '{}' : '}'))
      },
    }
  },
}

/** The first is the default. */
export const jsonLayouts: readonly JsonLayout[] = [jsonAoa, jsonAos, jsonSoa]

/** Names as answers and the documentation list them. */
export const jsonLayoutNames: readonly string[] = jsonLayouts.map(({ name }) => name)

/** The layout of this name, in any accepted spelling, or undefined. */
export function jsonLayoutOf(text: string): JsonLayout | undefined {
  return jsonLayouts.find(({ name, spellings }) => name === text || spellings.includes(text))
}
