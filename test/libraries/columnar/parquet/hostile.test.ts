// Files that lie, and files that are small and mean much: each is refused in a sentence that says where, or streams in
// bounded memory. What other readers did with them: docs/decisions/formats.md#columns-arrow-and-parquet.

import { describe, expect, test } from 'vitest'
import { concatBytes, utf8 } from '../../../../src/libraries/base/bytes.ts'
import { batchBytes } from '../../../../src/libraries/columnar/arrow/columns.ts'
import { craft, type CraftChunk, type CraftElement, oneColumn, repeated, withLength } from './craft.ts'
import { fixture, open, readAll, refusal } from './parquet-helper.ts'

const mib = 1024 * 1024
const int32 = (count: number): Uint8Array => new Uint8Array(4 * count)
const sound = oneColumn({ entries: 3, body: int32(3) })

/** Rows and largest batch of the first `most` batches of a file. */
async function firstBatches(
  bytes: Uint8Array,
  most: number,
): Promise<{ rows: number; largestBytes: number; largestRows: number }> {
  const file = await open(bytes)
  let [rows, largestBytes, largestRows, batches] = [0, 0, 0, 0]
  for await (const batch of file.batches(file.fields.map((_, i) => i))) {
    rows += batch.rows
    largestBytes = Math.max(largestBytes, batchBytes(batch))
    largestRows = Math.max(largestRows, batch.rows)
    if (++batches >= most) break
  }
  return { rows, largestBytes, largestRows }
}

/** One text of `textBytes`, `rows` times, by a dictionary. */
function dictionaryBomb(textBytes: number, rows: number): Uint8Array {
  const pages = [
    { kind: 'dictionary' as const, entries: 1, body: withLength(new Uint8Array(textBytes).fill(0x61)) },
    { entries: rows, encoding: 8, body: concatBytes([Uint8Array.of(1), repeated(0, rows)]) },
  ]
  return craft({
    schema: [{ name: 's', type: 6, repetition: 0, converted: 0 }],
    groups: [{ rows, chunks: [{ pages, type: 6, values: rows }] }],
  })
}

describe('files that mean much stream in bounded memory', () => {
  test('a dictionary whose one text is meant a hundred thousand times', async () => {
    const { rows, largestBytes } = await firstBatches(dictionaryBomb(100_000, 100_000), 20)
    expect(rows).toBeGreaterThan(500)
    expect(largestBytes).toBeLessThan(5 * mib)
  })

  test('a dictionary whose one text is a mebibyte', async () => {
    const { rows, largestBytes } = await firstBatches(dictionaryBomb(mib, 1_000_000), 5)
    expect(rows).toBeGreaterThan(5)
    expect(largestBytes).toBeLessThan(6 * mib)
  })

  test('sixty million rows of one number', async () => {
    const rows = 60_000_000
    const pages = [
      { kind: 'dictionary' as const, entries: 1, body: int32(1) },
      { entries: rows, encoding: 8, body: concatBytes([Uint8Array.of(1), repeated(0, rows)]) },
    ]
    const bytes = craft({
      schema: [{ name: 'n', type: 1, repetition: 0 }],
      groups: [{ rows, chunks: [{ pages, type: 1, values: rows }] }],
    })
    expect(bytes.length).toBeLessThan(300)
    expect(await firstBatches(bytes, 50)).toMatchObject({ rows: 50 * 16_384, largestRows: 16_384 })
  })

  test('a thousand columns of wide rows are cut into small batches', async () => {
    const chunk: CraftChunk = { pages: [{ entries: 2000, body: new Uint8Array(8 * 2000) }], type: 5, values: 2000 }
    const schema = Array.from({ length: 1000 }, (_, i) => ({ name: `c${i}`, type: 5, repetition: 0 }))
    const bytes = craft({ schema, groups: [{ rows: 2000, chunks: schema.map(() => chunk) }] })
    const { rows, largestBytes } = await firstBatches(bytes, 100)
    expect(rows).toBe(2000)
    expect(largestBytes).toBeLessThan(5 * mib)
  })
})

describe('what is too much is refused before memory is taken', () => {
  test('texts of 100 MB', async () => {
    const page = { entries: 4, body: withLength(int32(1)), inflatedBytes: 400_000_000 }
    expect(await refusal(oneColumn(page, { type: 6 }, { type: 6 }))).toMatchObject({
      kind: 'BodyTooLarge',
      details: { limit: { name: 'pageBytes', value: 64 * mib, unit: 'bytes' } },
    })
  })

  test('pages that together are more than what is set apart', async () => {
    const chunk: CraftChunk = {
      pages: [{ entries: 1, body: int32(1), inflatedBytes: 60 * mib, storedBytes: 4 }],
      type: 1,
      values: 1,
      codec: 1,
    }
    const schema = Array.from({ length: 6 }, (_, i) => ({ name: `c${i}`, type: 1, repetition: 0 }))
    // The first is refused for what it inflates to, unless room for all is judged before.
    expect(['BodyTooLarge', 'MalformedBody']).toContain(
      (await refusal(craft({ schema, groups: [{ rows: 1, chunks: schema.map(() => chunk) }] }))).kind,
    )
  })

  test('twenty thousand columns', async () => {
    const schema = Array.from({ length: 20_000 }, (_, i) => ({ name: `c${i}`, type: 1, repetition: 0 }))
    expect(await refusal(craft({ schema, groups: [] }))).toMatchObject({ kind: 'MalformedBody' })
    expect(await refusal(craft({ schema: schema.slice(0, 2001), groups: [] }))).toMatchObject({
      kind: 'RecordsDoNotFit',
      details: { limit: { name: 'columns', value: 2000, unit: 'columns' } },
    })
  })

  test('three hundred structs inside one another', async () => {
    const structs = Array.from({ length: 300 }, (_, i): CraftElement => ({ name: `s${i}`, repetition: 1, children: 1 }))
    const schema = [...structs, { name: 'n', type: 1, repetition: 0 }]
    const found = await refusal(craft({ schema, rootChildren: 1, groups: [] }))
    expect(found).toMatchObject({
      kind: 'UnsupportedEncoding',
      message: expect.stringContaining('more than 16 levels deep'),
    })
  })

  test.each([
    ['sixteen million nulls', 16_000_000, ['RecordsDoNotFit', 'MalformedBody']],
    ['two hundred million nulls', 200_000_000, ['BodyTooLarge']],
  ])('a list of %s in one row', async (_, values, kinds) => {
    // The first entry begins the row, the others continue its list.
    const repetition = concatBytes([repeated(0, 1), repeated(1, values - 1)])
    const body = concatBytes([withLength(repetition), withLength(repeated(1, values))])
    const schema = [
      { name: 'l', repetition: 1, children: 1, converted: 3 },
      { name: 'list', repetition: 2, children: 1 },
      { name: 'item', type: 1, repetition: 1 },
    ]
    const nulls = concatBytes([withLength(repetition), withLength(repeated(2, values))])
    for (const page of [body, nulls]) {
      const bytes = craft({
        schema,
        rootChildren: 1,
        groups: [{ rows: 1, chunks: [{ pages: [{ entries: values, body: page }], type: 1, values }] }],
      })
      expect(kinds).toContain((await refusal(bytes)).kind)
    }
  })

  test('more than ten thousand row groups', async () => {
    const groups = Array.from({ length: 10_001 }, () => ({ rows: 0, chunks: [] }))
    expect(await refusal(craft({ schema: [{ name: 'n', type: 1, repetition: 0 }], groups }))).toMatchObject({
      kind: 'MalformedBody',
      message: expect.stringContaining('10001'),
    })
  })
})

describe('a file that lies is refused with the place of the lie', () => {
  const cases: readonly [string, Uint8Array, string, string][] = [
    ['no Parquet at all', utf8('id,name\n1,a\n2,b\n'), 'MalformedBody', 'does not begin as a Parquet file'],
    ['too short', utf8('PAR1'), 'MalformedBody', 'too short'],
    ['cut off', sound.subarray(0, sound.length - 3), 'MalformedBody', 'cut off'],
    ['an encrypted footer', craftMagic('PARE'), 'UnsupportedEncoding', 'is encrypted'],
    [
      'encrypted columns',
      oneColumn({ entries: 1, body: int32(1) }, { isEncrypted: true }),
      'UnsupportedEncoding',
      'is encrypted',
    ],
    ['a footer longer than the file', footerLength(2 ** 31), 'MalformedBody', 'longer than the file'],
    ['a footer of other length', footerLength(7), 'MalformedBody', 'metadata'],
    ['rows that are not in row groups', rowsSaid(4), 'MalformedBody', 'says that it has 4 rows, and has 3'],
    [
      'another type than in the schema',
      oneColumn({ entries: 1, body: int32(2) }, { type: 2 }),
      'MalformedBody',
      'another type',
    ],
    [
      'a column outside of the file',
      oneColumn({ entries: 1, body: int32(1) }, { start: 900 }),
      'MalformedBody',
      '(row group 0) lies outside',
    ],
    [
      'values that are no rows',
      oneColumn({ entries: 1, body: int32(1) }, { values: 2 }),
      'MalformedBody',
      'has 2 values in a row group of 1 rows',
    ],
    [
      'a codec that nobody knows',
      oneColumn({ entries: 1, body: int32(1) }, { codec: 9 }),
      'UnsupportedEncoding',
      'unknown codec 9',
    ],
    [
      'LZO',
      oneColumn({ entries: 1, body: int32(1) }, { codec: 3 }),
      'UnsupportedEncoding',
      'The column "n" (row group 0) is compressed with LZO',
    ],
    [
      'a page beyond its column',
      oneColumn({ entries: 1, body: int32(1), storedBytes: 999 }),
      'MalformedBody',
      'row group 0, page 0) has a page that lies outside',
    ],
    [
      'a page of other size',
      oneColumn({ entries: 1, body: int32(1), inflatedBytes: 999 }),
      'MalformedBody',
      'another size',
    ],
    ['a page with too many values', lyingPage(5), 'MalformedBody', 'more values in its pages'],
    ['a page with too few values', lyingPage(1), 'MalformedBody', 'metadata'],
    ['a wrong checksum', oneColumn({ entries: 1, body: int32(1), crc: 7 }), 'MalformedBody', 'checksum'],
    [
      'an unknown encoding',
      oneColumn({ entries: 1, body: int32(1), encoding: 12 }),
      'UnsupportedEncoding',
      'encoding number 12',
    ],
    [
      'an encoding of other types',
      oneColumn({ entries: 1, body: int32(1), encoding: 6 }),
      'UnsupportedEncoding',
      'INT32 values in the encoding DELTA_LENGTH_BYTE_ARRAY',
    ],
    [
      'levels as BIT_PACKED',
      oneColumn({ entries: 1, body: int32(2), levelEncoding: 4 }, {}, { repetition: 1 }),
      'UnsupportedEncoding',
      'BIT_PACKED',
    ],
    [
      'no dictionary',
      oneColumn({ entries: 1, body: Uint8Array.of(1, 2, 0), encoding: 8 }),
      'MalformedBody',
      'lacks its dictionary',
    ],
    ['an empty page of indices', emptyIndices(), 'MalformedBody', 'ends too early'],
    ['a page that ends early', oneColumn({ entries: 3, body: int32(2) }), 'MalformedBody', 'ends too early'],
    [
      'a schema of more columns',
      craft({ schema: [{ name: 'n', type: 1 }], rootChildren: 5, groups: [] }),
      'MalformedBody',
      'fewer elements',
    ],
    [
      'a schema of fewer columns',
      craft({
        schema: [
          { name: 'n', type: 1 },
          { name: 'm', type: 1 },
        ],
        rootChildren: 1,
        groups: [],
      }),
      'MalformedBody',
      'more elements',
    ],
    [
      'a struct of two billion columns',
      craft({ schema: [{ name: 'n', children: 2 ** 31 - 1 }], rootChildren: 1, groups: [] }),
      'MalformedBody',
      'fewer elements',
    ],
    [
      'an interval',
      oneColumn({ entries: 1, body: int32(3) }, { type: 7 }, { type: 7, typeLength: 12, converted: 21 }),
      'UnsupportedEncoding',
      '"n" is an INTERVAL',
    ],
    [
      'a type of the future',
      oneColumn({ entries: 1, body: int32(1) }, {}, { logical: 60 }),
      'UnsupportedEncoding',
      'logical type number 60',
    ],
    [
      'text in numbers',
      oneColumn({ entries: 1, body: int32(1) }, {}, { converted: 0 }),
      'MalformedBody',
      'values of INT32 are not',
    ],
    [
      'no number',
      oneColumn({ entries: 1, body: int32(1) }, { type: 8 }, { type: 8 }),
      'MalformedBody',
      'physical type 8',
    ],
  ]
  for (const [name, bytes, kind, message] of cases) {
    test(name, async () => {
      expect(await refusal(bytes)).toMatchObject({
        kind,
        message: expect.stringContaining(message),
        details: { hint: expect.stringMatching(/\w/) },
      })
    })
  }

  test('a text that is no UTF-8 is named by its record', async () => {
    const body = concatBytes([withLength(utf8('é')), withLength(Uint8Array.of(0xc3)), withLength(Uint8Array.of(0xa9))])
    expect(await refusal(oneColumn({ entries: 3, body }, { type: 6 }, { type: 6, converted: 0 }))).toMatchObject({
      kind: 'RecordsDoNotFit',
      details: { errors: [{ record: 1, column: 'n', kind: 'InvalidUtf8' }] },
    })
  })

  test('a number beyond its own type is named by its record', async () => {
    const body = new Uint8Array(Int32Array.of(1, 127, 128).buffer)
    expect(await refusal(oneColumn({ entries: 3, body }, {}, { converted: 15 }))).toMatchObject({
      kind: 'RecordsDoNotFit',
      details: { errors: [{ record: 2, column: 'n', kind: 'OutOfRange' }] },
    })
  })

  test('a time of INT96 beyond 64 bits of nanoseconds is named by its record', async () => {
    const body = new Uint8Array(12)
    new DataView(body.buffer).setUint32(8, 5_373_484, true)
    expect(await refusal(oneColumn({ entries: 1, body }, { type: 3 }, { type: 3 }))).toMatchObject({
      kind: 'RecordsDoNotFit',
      details: { errors: [{ record: 0, column: 'n', kind: 'OutOfRange' }] },
    })
  })
})

function craftMagic(magic: string): Uint8Array {
  return craft({ schema: [{ name: 'n', type: 1 }], groups: [], magic })
}

function footerLength(footerBytes: number): Uint8Array {
  return craft({ schema: [{ name: 'n', type: 1 }], groups: [], footerBytes })
}

function emptyIndices(): Uint8Array {
  const pages = [
    { kind: 'dictionary' as const, entries: 1, body: int32(1) },
    { entries: 2, encoding: 8, body: new Uint8Array(0) },
  ]
  const schema = [{ name: 'n', type: 1, repetition: 0 }]
  return craft({ schema, groups: [{ rows: 2, chunks: [{ pages, type: 1, values: 2 }] }] })
}

function rowsSaid(rows: number): Uint8Array {
  const chunk = { pages: [{ entries: 3, body: int32(3) }], type: 1, values: 3 }
  return craft({ schema: [{ name: 'n', type: 1 }], groups: [{ rows: 3, chunks: [chunk] }], rows })
}

/** A page of `entries` values in a column of three. */
function lyingPage(entries: number): Uint8Array {
  const chunk = { pages: [{ entries, body: int32(entries) }], type: 1, values: 3 }
  return craft({ schema: [{ name: 'n', type: 1 }], groups: [{ rows: 3, chunks: [chunk] }] })
}

test('a sound file made by hand is read', async () => {
  expect(await readAll(sound)).toEqual([{ name: 'n', type: 'Int32', values: ['0', '0', '0'] }])
  expect((await readAll(fixture('no-rows.parquet'))).length).toBe(2)
})

test('batches may be asked for again, also after some were left', async () => {
  const pages = Array.from({ length: 40 }, () => ({ entries: 1000, body: int32(1000) }))
  const chunk: CraftChunk = { pages, type: 1, values: 40_000 }
  const schema = [{ name: 'n', type: 1, repetition: 0 }]
  const group = { rows: 40_000, chunks: [chunk] }
  const file = await open(craft({ schema, groups: [group, group] }))
  for (let turn = 0; turn < 3; turn++) {
    for await (const { rows } of file.batches([0])) {
      expect(rows).toBe(16_384)
      break
    }
  }
  const rows: number[] = []
  for await (const batch of file.batches([0])) rows.push(batch.rows)
  expect(rows).toEqual([16_384, 16_384, 7232, 16_384, 16_384, 7232])
})
