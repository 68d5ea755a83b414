// Arrow bodies made to take much, or to be misread: small files that hold much, lengths that lie, tables that lead back to
// themselves. Each is read in bounds or refused with a reason.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batchBytes } from '../../../../src/libraries/columnar/arrow/columns.ts'
import { encodeArrowStream } from '../../../../src/libraries/columnar/arrow/ipc.ts'
import { arrow, openArrow } from '../../../../src/libraries/formats/arrow/format.ts'
import type { NodeError } from '../../../../src/libraries/base/errors.ts'
import type { RecordBatch } from '../../../../src/libraries/model/schema.ts'
import { FlatBufferWriter } from '../../../../src/libraries/base/flatbuffer-writer.ts'
import { defaultLimits } from '../../../helpers/default-limits.ts'
import { batchOf } from '../../columnar/arrow/columns-helper.ts'
import { bodyFile, collected, failureOf, optionalField, readerOptions, valueAt } from '../reading.ts'

const folder = join(import.meta.dirname, '../../../fixtures/arrow')
const fixture = (name: string): Buffer => readFileSync(join(folder, name))
const MiB = 1024 * 1024

async function batchesOf(bytes: Uint8Array): Promise<AsyncGenerator<RecordBatch>> {
  const file = await openArrow(bodyFile(bytes), defaultLimits())
  for (const error of file.refused.values()) throw error
  return file.batches([...file.fields.keys()])
}

async function refusal(bytes: Uint8Array): Promise<NodeError> {
  return failureOf(batchesOf(bytes).then(collected))
}

/** Why a body is refused whose column is to be one of integers. */
async function refusalFor(bytes: Uint8Array, name: string): Promise<NodeError> {
  const file = await arrow.openFile(bodyFile(bytes), { limits: defaultLimits() })
  return failureOf(collected(file.read(readerOptions([optionalField(name, { kind: 'Int64' })]))))
}

describe('an Arrow body that holds much in little', () => {
  test('comes in small pieces: one long text that a dictionary repeats', async () => {
    let [bytes, rows, pieces] = [0, 0, 0]
    for await (const batch of await batchesOf(fixture('hostile-dictionary.arrows'))) {
      expect(batchBytes(batch)).toBeLessThan(5 * MiB)
      bytes += batchBytes(batch)
      rows += batch.rows
      if (++pieces === 20) break
    }
    expect([bytes > 40 * MiB, rows > 400]).toEqual([true, true])
  })

  test('is refused at once, or comes in small pieces: one run of two billion rows', async () => {
    expect((await refusal(fixture('hostile-runs.arrows'))).kind).toBe('BodyTooLarge')
    const limits = { ...defaultLimits(), columnBytes: 2 ** 40 }
    const file = await openArrow(bodyFile(fixture('hostile-runs.arrows')), limits)
    expect(file.rows).toBe(2 ** 31 - 1)
    let pieces = 0
    for await (const { rows, columns } of file.batches([0])) {
      expect([rows, valueAt(columns[0]!, rows - 1)]).toEqual([16_384, 'run'])
      if (++pieces === 5) break
    }
  })

  test('is refused after a million faults: one run of texts, for a column that takes none', async () => {
    const bytes = Buffer.from(fixture('hostile-runs.arrows'))
    // As many rows as there is room for at first sight: in the message, its node, and the end of the run.
    for (let at = bytes.indexOf('ffffff7f', 'hex'); at >= 0; at = bytes.indexOf('ffffff7f', at + 4, 'hex'))
      bytes.writeInt32LE(2 ** 28, at)
    const { kind, message, details } = await refusalFor(bytes, 'r')
    expect([kind, details.errors?.length, details.errors?.[0]?.kind]).toEqual(['RecordsDoNotFit', 100, 'WrongType'])
    expect(details.errorsTotal).toBeLessThan(1_100_000)
    expect(message).toContain(`Faults in all of what was read: ${details.errorsTotal}.`)
  }, 60_000)

  test('is refused once much was read of it: a long text that a dictionary repeats, for a column that takes none', async () => {
    const { kind, message } = await refusalFor(fixture('hostile-dictionary.arrows'), 'w')
    expect([kind, message]).toEqual(['BodyTooLarge', expect.stringContaining('more than 67108864 values for its size')])
  }, 60_000)

  test('is refused: lists of lists over the same items, which are more than a record may be', async () => {
    const { kind, details } = await refusal(fixture('hostile-lists.arrows'))
    expect(kind).toBe('RecordsDoNotFit')
    expect(details.errors).toMatchObject([{ record: 0, column: 'l', kind: 'RecordTooLarge' }])
  })

  test('is refused: zeros of more than 256 MiB, before they are inflated', async () => {
    const { kind, message } = await refusal(fixture('hostile-zeros.arrows'))
    expect([kind, message]).toEqual([
      'UnsupportedEncoding',
      expect.stringContaining('The column "z" of record batch 0'),
    ])
    expect(message).toContain('256 MiB')
  })

  test('is refused: a footer that names one batch again and again', async () => {
    const { kind, message } = await refusal(fixture('hostile-footer.arrow'))
    expect([kind, message]).toEqual(['MalformedBody', expect.stringContaining('more than the file')])
  })

  test('is refused: too many columns', async () => {
    const many = (count: number): Uint8Array =>
      encodeArrowStream(
        Array.from({ length: count }, (_, i) => optionalField(`c${i}`, { kind: 'Int8' })),
        [],
      )
    const { kind, details } = await refusal(many(2005))
    expect([kind, details.limit?.value]).toEqual(['RecordsDoNotFit', 2000])
    expect(await collected(await batchesOf(many(2004)))).toEqual([])
  })

  test('is refused: structs in structs, and structs whose fields have one name', async () => {
    expect(await refusal(fixture('hostile-deep.arrows'))).toMatchObject({
      kind: 'UnsupportedEncoding',
      message: expect.stringContaining('The column "deep" nests deeper than 16 levels'),
    })
    expect(await refusal(fixture('hostile-twins.arrows'))).toMatchObject({
      kind: 'UnsupportedEncoding',
      message: expect.stringContaining('two fields "t"'),
    })
  })

  test('is refused: metadata of more than 16 MiB, whatever they hold', async () => {
    for (const [length, reason] of [
      [16 * MiB, 'has damaged metadata'],
      [16 * MiB + 8, 'is not an Arrow stream or file'],
    ] as const) {
      const bytes = Buffer.alloc(8 + length)
      bytes.writeUInt32LE(0xffffffff, 0)
      bytes.writeUInt32LE(length, 4)
      const { kind, message } = await refusal(bytes)
      expect([kind, message]).toEqual(['MalformedBody', expect.stringContaining(reason)])
    }
  })

  test('is refused: a dictionary that has itself inside', async () => {
    const { kind, message } = await refusal(schemaOf((field) => field('outer', 13, [field('inner', 5, [])])))
    expect([kind, message]).toEqual(['UnsupportedEncoding', expect.stringContaining('one dictionary')])
  })

  test('is refused as a whole: a column whose type nobody knows, so that its buffers cannot be counted', async () => {
    const { kind, message } = await refusal(schemaOf((field) => field('outer', 13, [field('new', 77, [])])))
    expect([kind, message]).toEqual([
      'UnsupportedEncoding',
      expect.stringContaining('column "outer" has an unknown type'),
    ])
  })

  test('is read in bounds: unions of one field a million times over', async () => {
    const bytes = schemaOf((field) => {
      let inner = field('leaf', 18, [])
      for (let depth = 0; depth < 14; depth++)
        inner = field(
          'u',
          14,
          Array.from({ length: 8 }, () => inner),
        )
      return inner
    })
    expect((await refusal(bytes)).kind).toBe('MalformedBody')
  })
})

type MakeField = (name: string, member: number, children: readonly number[]) => number

/** A stream of a schema of one field. All fields are encoded by dictionary 7. */
function schemaOf(make: (field: MakeField) => number): Uint8Array {
  const writer = new FlatBufferWriter()
  const field: MakeField = (name, member, children) => {
    const [nameAt, childrenAt] = [writer.string(name), writer.offsetVector(children)]
    writer.startTable(4)
    writer.addU64(0, 7)
    const dictionary = writer.endTable()
    writer.startTable(0)
    const type = writer.endTable()
    writer.startTable(7)
    writer.addOffset(0, nameAt)
    writer.addOffset(3, type)
    writer.addOffset(4, dictionary)
    writer.addOffset(5, childrenAt)
    writer.addU8(2, member)
    return writer.endTable()
  }
  const fields = writer.offsetVector([make(field)])
  writer.startTable(4)
  writer.addOffset(1, fields)
  const schema = writer.endTable()
  writer.startTable(5)
  writer.addOffset(2, schema)
  writer.addI16(0, 4)
  writer.addU8(1, 1)
  const metadata = writer.finish(writer.endTable())
  const bytes = Buffer.alloc(8 + metadata.length + (-metadata.length & 7))
  bytes.writeUInt32LE(0xffffffff, 0)
  bytes.writeUInt32LE(bytes.length - 8, 4)
  bytes.set(metadata, 8)
  return bytes
}

const fields = [optionalField('s', { kind: 'String' }), optionalField('n', { kind: 'Int32' })]
const stream = encodeArrowStream(fields, [
  batchOf(fields, [
    ['one', 1],
    [null, 2],
    ['three', null],
  ]),
])

/** The stream with the bytes of its body changed where `find` stands. */
function changed(find: string, to: Uint8Array): Uint8Array {
  const bytes = Buffer.from(stream)
  const at = bytes.lastIndexOf(find, undefined, 'latin1')
  expect(at).toBeGreaterThan(0)
  bytes.set(to, at)
  return bytes
}

describe('an Arrow body that is not what it says', () => {
  test.each([
    ['nothing', '', 'is empty'],
    ['too little', 'abc', 'is shorter than it says'],
    ['JSON', '[{"a": 1}, {"a": 2}]', 'is not an Arrow stream or file'],
    ['Parquet', 'PAR1 and more and more', 'application/vnd.apache.parquet'],
    ['version 1 of Feather', 'FEA1 and more and more', 'version 2'],
    ['a file without an end', 'ARROW1\0\0 and more and more', 'cut off'],
    ['the magic alone', 'ARROW1', 'cut off'],
  ])('is refused with what it is: %s', async (_, text, reason) => {
    const { kind, message, details } = await refusal(Buffer.from(text))
    expect(['MalformedBody', 'UnsupportedEncoding']).toContain(kind)
    expect(message).toContain(reason)
    expect(details.hint).toBeDefined()
  })

  test('is refused by column and batch: text that is no UTF-8, or is cut inside of a character', async () => {
    for (const bytes of [Uint8Array.of(0xff, 0xfe), Uint8Array.of(0x6f, 0xc3)]) {
      const { kind, message } = await refusal(changed('onethree', bytes))
      expect([kind, message]).toEqual([
        'MalformedBody',
        'The column "s" of record batch 0 has text that is not UTF-8. Nothing was stored.',
      ])
    }
  })

  test('is refused by column and batch: offsets that go backwards or beyond', async () => {
    const offsets = (...words: number[]): Uint8Array => new Uint8Array(Int32Array.from(words).buffer)
    const find = Buffer.from(offsets(0, 3, 3, 8)).toString('latin1')
    expect((await refusal(changed(find, offsets(0, 3, 2, 8)))).message).toContain('backwards')
    expect((await refusal(changed(find, offsets(0, 3, 3, 800)))).message).toContain('beyond its bytes')
    expect((await refusal(changed(find, offsets(-1, 3, 3, 8)))).message).toContain('backwards')
  })

  test('is refused: bytes after the end of a stream, such as another one', async () => {
    const { kind, message } = await refusal(Buffer.concat([stream, stream]))
    expect([kind, message]).toEqual(['MalformedBody', expect.stringContaining('goes on after the end')])
  })

  test('is read without its end mark, which a stream may lack', async () => {
    const batches = await collected(await batchesOf(stream.subarray(0, -8)))
    expect(batches.map(({ rows }) => rows)).toEqual([3])
  })
})
