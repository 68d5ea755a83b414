// The writer against the builder of the npm `flatbuffers` runtime, and the reader against what that builder can do to it.

import fc from 'fast-check'
import { Builder } from 'flatbuffers'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../src/libraries/base/errors.ts'
import { decodeRoot } from '../../../src/libraries/odf/decoder.ts'
import { FlatBufferReader, maxTableDepth } from '../../../src/libraries/base/flatbuffer-reader.ts'
import { FlatBufferWriter } from '../../../src/libraries/base/flatbuffer-writer.ts'

/** A table to write: by slot a scalar, a struct, a string, bytes, a table or a list of tables. */
type Value =
  | { kind: 'u8' | 'i16' | 'i32'; value: number }
  | { kind: 'u64'; value: bigint }
  | { kind: 'struct'; words: [number, number, number, number] }
  | { kind: 'string'; text: string }
  | { kind: 'bytes'; bytes: Uint8Array }
  | { kind: 'table'; table: Table }
  | { kind: 'tables'; tables: Table[] }
  | { kind: 'absent' }
interface Table {
  values: Value[]
}

const word = fc.integer({ min: 0, max: 0xffff_ffff })
const { table: arbitraryTable } = fc.letrec<{ table: Table; value: Value }>((tie) => ({
  table: fc.record({ values: fc.array(tie('value'), { maxLength: 6 }) }),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ kind: fc.constant('absent' as const) }),
    fc.record({ kind: fc.constant('u8' as const), value: fc.nat(255) }),
    fc.record({ kind: fc.constant('i16' as const), value: fc.integer({ min: -32_768, max: 32_767 }) }),
    fc.record({ kind: fc.constant('i32' as const), value: fc.integer() }),
    fc.record({ kind: fc.constant('u64' as const), value: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) }),
    fc.record({ kind: fc.constant('struct' as const), words: fc.tuple(word, word, word, word) }),
    fc.record({ kind: fc.constant('string' as const), text: fc.string({ unit: 'grapheme', maxLength: 40 }) }),
    fc.record({ kind: fc.constant('bytes' as const), bytes: fc.uint8Array({ maxLength: 3000, size: 'large' }) }),
    fc.record({ kind: fc.constant('table' as const), table: tie('table') }),
    fc.record({ kind: fc.constant('tables' as const), tables: fc.array(tie('table'), { maxLength: 4 }) }),
  ),
}))

function writeOurs(writer: FlatBufferWriter, { values }: Table, alignment: number): number {
  const children = values.map((value): number => {
    if (value.kind === 'string') return writer.string(value.text)
    if (value.kind === 'bytes') return writer.byteVector(value.bytes)
    if (value.kind === 'table') return writeOurs(writer, value.table, alignment)
    if (value.kind === 'tables')
      return writer.offsetVector(value.tables.map((item) => writeOurs(writer, item, alignment)))
    return 0
  })
  writer.startTable(values.length)
  for (const [slot, value] of values.entries()) {
    if (value.kind === 'u8') writer.addU8(slot, value.value)
    else if (value.kind === 'i16') writer.addI16(slot, value.value)
    else if (value.kind === 'i32') writer.addI32(slot, value.value)
    else if (value.kind === 'u64') writer.addU64(slot, value.value)
    else if (value.kind === 'struct')
      writer.addStruct(slot, new Uint8Array(Uint32Array.from(value.words).buffer), alignment)
    else if (value.kind !== 'absent') writer.addOffset(slot, children[slot]!)
  }
  return writer.endTable()
}

function writeTheirs(builder: Builder, { values }: Table, alignment: number): number {
  const children = values.map((value): number => {
    if (value.kind === 'string') return builder.createString(value.text)
    if (value.kind === 'bytes') return builder.createByteVector(value.bytes)
    if (value.kind === 'table') return writeTheirs(builder, value.table, alignment)
    if (value.kind !== 'tables') return 0
    const items = value.tables.map((item) => writeTheirs(builder, item, alignment))
    builder.startVector(4, items.length, 4)
    for (const item of items.toReversed()) builder.addOffset(item)
    return builder.endVector()
  })
  builder.startObject(values.length)
  for (const [slot, value] of values.entries()) {
    if (value.kind === 'absent') continue
    if (value.kind === 'u8') builder.addInt8(value.value)
    else if (value.kind === 'i16') builder.addInt16(value.value)
    else if (value.kind === 'i32') builder.addInt32(value.value)
    else if (value.kind === 'u64') builder.addInt64(BigInt.asIntN(64, value.value))
    else if (value.kind === 'struct') {
      builder.prep(alignment, 16)
      for (const part of value.words.toReversed()) builder.writeInt32(part | 0)
    } else builder.addOffset(children[slot]!)
    builder.slot(slot)
  }
  return builder.endObject()
}

describe('the writer', () => {
  it('makes the same bytes as the reference builder', () => {
    fc.assert(
      fc.property(arbitraryTable, fc.constantFrom(1, 4), (table, alignment) => {
        const writer = new FlatBufferWriter()
        const ours = writer.finish(writeOurs(writer, table, alignment))
        const builder = new Builder(16)
        builder.finish(writeTheirs(builder, table, alignment))
        expect(toHex(ours)).toBe(toHex(builder.asUint8Array()))
      }),
      { numRuns: 1500 },
    )
  })

  it('refuses text that UTF-8 cannot say', () => {
    expect(() => new FlatBufferWriter().string('a\ud800b')).toThrow(/well-formed/)
  })
})

describe('the reader', () => {
  const read = (builder: Builder): FlatBufferReader => new FlatBufferReader(builder.asUint8Array(), 'test')

  /** A table in a table, `depth` of them. */
  function nested(depth: number): Builder {
    const builder = new Builder()
    let inner = 0
    for (let i = 0; i < depth; i++) {
      builder.startObject(1)
      if (inner !== 0) builder.addFieldOffset(0, inner, 0)
      inner = builder.endObject()
    }
    builder.finish(inner)
    return builder
  }

  function descend(reader: FlatBufferReader): number {
    let table = reader.root()
    for (;;) {
      const at = reader.field(table, 0, 4, 4)
      if (at === 0) return table.depth
      table = reader.table(table, at)
    }
  }

  it(`follows ${maxTableDepth} tables and no more`, () => {
    expect(descend(read(nested(maxTableDepth)))).toBe(maxTableDepth)
    expect(() => descend(read(nested(maxTableDepth + 1)))).toThrow(DecodeError)
  })

  it('refuses a string that very many offsets share, instead of repeating it', () => {
    const builder = new Builder()
    const shared = builder.createString('x'.repeat(100_000))
    builder.startVector(4, 10_000, 4)
    for (let i = 0; i < 10_000; i++) builder.addOffset(shared)
    const vector = builder.endVector()
    builder.startObject(1)
    builder.addFieldOffset(0, vector, 0)
    builder.finish(builder.endObject())
    const reader = read(builder)
    const positions = reader.offsetVector(reader.field(reader.root(), 0, 4, 4))
    let taken = 0
    expect(() => {
      for (const at of positions) taken += reader.string(at).length
    }).toThrow(/too often/)
    expect(taken).toBeLessThan(20 * builder.asUint8Array().length)
  })

  it('reads what the reference builder wrote', () => {
    const builder = new Builder()
    const text = builder.createString('naïve 😀')
    builder.startObject(3)
    builder.addFieldInt64(0, BigInt.asIntN(64, 2n ** 63n), 0n)
    builder.addFieldOffset(2, text, 0)
    builder.finish(builder.endObject())
    const reader = read(builder)
    const root = reader.root()
    expect(reader.u64(reader.field(root, 0, 8, 8))).toBe(2n ** 63n)
    expect(reader.field(root, 1, 4, 4)).toBe(0)
    expect(reader.string(reader.field(root, 2, 4, 4))).toBe('naïve 😀')
    expect(reader.field(root, 9, 4, 4)).toBe(0)
  })
})

describe('a FlatBuffer with one fault', () => {
  // 0 root offset · 4 vtable (length, table length, distance of slot 0) · 12 table (way to the vtable, offset) · 20 "abc"
  const sound = Uint8Array.of(12, 0, 0, 0, 6, 0, 8, 0, 4, 0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 97, 98, 99, 0)
  const readText = (bytes: Uint8Array): string => {
    const reader = new FlatBufferReader(bytes, 'test')
    return reader.string(reader.field(reader.root(), 0, 4, 4))
  }

  it('is read when the fault is mended', () => {
    expect(readText(sound)).toBe('abc')
  })

  it.each([
    ['a field inside the way to the vtable', [[8, 2]], /outside its table/],
    ['a field behind its table', [[8, 8]], /outside its table/],
    ['a field across the end of its table', [[6, 7]], /outside its table/],
    [
      'an unaligned field',
      [
        [6, 9],
        [8, 5],
      ],
      /field is not aligned/,
    ],
    ['a table longer than the buffer', [[6, 17]], /ends before/],
    ['a table without room for its way to the vtable', [[6, 3]], /table has an impossible length/],
    ['a vtable of odd length', [[4, 7]], /vtable has an impossible length/],
    ['a vtable without its lengths', [[4, 2]], /vtable has an impossible length/],
    ['a vtable longer than the buffer', [[4, 26]], /ends before/],
    ['an unaligned vtable', [[12, 7]], /vtable is not aligned/],
    ['a vtable before the buffer', [[12, 16]], /ends before/],
    ['a root at itself', [[0, 0]], /points to itself/],
    ['a root beyond the end', [[0, 28]], /ends before/],
    ['a root in the last bytes', [[0, 25]], /ends before/],
    ['an unaligned root', [[0, 13]], /unaligned/],
    ['an offset to itself', [[16, 0]], /points to itself/],
    ['an offset to an unaligned place', [[16, 5]], /unaligned/],
    ['a string longer than the buffer', [[20, 5]], /ends before/],
    ['a string without its zero inside the buffer', [[20, 4]], /does not end with a zero/],
    ['a string that ends with another byte', [[27, 1]], /does not end with a zero/],
    ['a string that is not UTF-8', [[25, 0xff]], /not UTF-8/],
  ])('%s is refused', (_, changes, reason) => {
    const broken = Uint8Array.from(sound)
    for (const [at, value] of changes) broken[at!] = value!
    expect(() => readText(broken)).toThrow(DecodeError)
    expect(() => readText(broken)).toThrow(reason)
  })
})

describe('a metadata block with one fault', () => {
  const time = new Uint8Array(16)
  new DataView(time.buffer).setUint16(4, 1, true)

  /** A block around whatever event `add` puts into slots 3 (type) and 4 (value). */
  function block(add: (writer: FlatBufferWriter, info: number) => void, systemTime: Uint8Array = time): unknown {
    const writer = new FlatBufferWriter()
    writer.startTable(2)
    const info = writer.endTable()
    writer.startTable(5)
    writer.addStruct(0, systemTime, 4)
    add(writer, info)
    return decodeRoot('MetadataBlock', writer.finish(writer.endTable()), 4)
  }

  const setInfo = (writer: FlatBufferWriter, info: number): void => {
    writer.addU8(3, 8)
    writer.addOffset(4, info)
  }

  it('is read when the fault is mended', () => {
    expect(block(setInfo)).toEqual({
      systemTime: '0000-01-01T00:00:00Z',
      sequenceNumber: 0,
      event: { kind: 'SetInfo' },
    })
  })

  it('is refused for an event without type or without value', () => {
    expect(() => block((writer, info) => writer.addOffset(4, info))).toThrow(/MetadataEvent has no member 0/)
    expect(() => block((writer) => writer.addU8(3, 8))).toThrow(/type and no value/)
    expect(() => block(() => undefined)).toThrow(/MetadataBlock.event is missing/)
  })

  it('is refused for a time that is none', () => {
    const patched = (at: number, value: number): Uint8Array => Uint8Array.from(time.with(at, value))
    expect(() => block(setInfo, patched(6, 1))).toThrow(/padding/)
    expect(() => block(setInfo, patched(3, 0x80))).toThrow(/in the year -2147483648/)
    expect(() => block(setInfo, patched(2, 1))).toThrow(/in the year 65536/)
    expect(() => block(setInfo, patched(10, 2))).toThrow(/second 131072/)
    expect(() => block(setInfo, patched(15, 0x40))).toThrow(/nanoseconds/)
  })

  it('is refused for a boolean that is neither', () => {
    const read = (value: number): unknown => {
      const writer = new FlatBufferWriter()
      writer.startTable(6)
      writer.addU8(5, value)
      return decodeRoot('ReadStepCsv', writer.finish(writer.endTable()), 4)
    }
    expect([read(0), read(1)]).toEqual([{ header: false }, { header: true }])
    expect(() => read(2)).toThrow(/neither 0 nor 1/)
  })
})
