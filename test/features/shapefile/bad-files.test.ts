// Files of a shapefile that lie, or are not what is read: the refusal names the file, and the record where there is one.

import { describe, expect, test } from 'vitest'
import { errorOf, featureLines, fixture } from './reading.ts'
import { changed, entriesOf, without, zipOf } from './zips.ts'

const values = fixture('values.zip')
const polygons = fixture('polygons.zip')

function patched(zip: Buffer, ending: string, write: (bytes: Buffer) => unknown): Buffer {
  return changed(zip, ending, (bytes) => {
    write(bytes)
    return bytes
  })
}

/** Kind and message of the refusal of a zip with one file changed. */
async function refusal(zip: Buffer, ending: string, write: (bytes: Buffer) => unknown): Promise<string> {
  const { kind, message } = await errorOf(patched(zip, ending, write))
  return `${kind} ${message}`
}

describe('a .dbf', () => {
  test.each<readonly [string, (bytes: Buffer) => unknown, string]>([
    ['whose count of rows lies', (b) => b.writeUInt32LE(1e9, 4), 'values.dbf: its header says 1000000000 rows'],
    ['with one row less than shapes', (b) => b.writeUInt32LE(5, 4), 'values.shx: it lists 6 shapes'],
    ['whose rows are longer than its columns', (b) => b.writeUInt16LE(200, 10), 'values.dbf: '],
    ['whose rows are shorter than its columns', (b) => b.writeUInt16LE(20, 10), 'values.dbf: its columns up to'],
    ['without room for rows', (b) => b.writeUInt16LE(0, 10), 'values.dbf: its header has sizes'],
    ['whose list of columns is cut', (b) => b.writeUInt16LE(100, 8), 'values.dbf: '],
    ['whose list of columns goes on into the rows', (b) => b.writeUInt16LE(260, 8), 'values.dbf: '],
    ['of dBASE 7', (b) => b.writeUInt8(4, 0), 'values.dbf: it is a table of dBASE 7'],
    ['of no version', (b) => b.writeUInt8(0x46, 0), 'values.dbf: it begins with the byte 70'],
    ['with a column of an unknown type', (b) => b.write('Q', 32 + 11), "values.dbf: its column 'n' has the type 'Q'"],
    ['with a date of another size', (b) => b.write('D', 32 + 11), "values.dbf: its column 'n' has the type 'D'"],
    ['that ends in its header', (b) => b.fill(0, 4, 12), 'values.dbf: its header has sizes'],
  ])('%s is refused', async (_, write, message) => {
    expect(await refusal(values, '.dbf', write)).toContain(`MalformedBody ${message}`)
  })

  test('with two columns of one name is refused', async () => {
    const write = (b: Buffer): unknown => b.write('N\0\0\0\0\0', 32 + 32)
    expect(await refusal(values, '.dbf', write)).toContain("InvalidColumnName values.dbf: two columns are called 'N'")
  })

  test('with a column without a name is refused', async () => {
    expect(await refusal(values, '.dbf', (b) => b.fill(0, 32, 43))).toContain('InvalidColumnName values.dbf: column 1')
  })

  test('with more columns than the limit is refused', async () => {
    const { details } = await errorOf(values, { limits: { columns: 5 } })
    expect(details.limit).toEqual({ name: 'columns', value: 5, unit: 'columns' })
  })

  test('that is missing is named', async () => {
    expect((await errorOf(without(values, '.dbf'))).message).toContain('values.dbf: the zip lacks this file')
  })

  test('may have bytes behind its last row', async () => {
    expect(await featureLines(changed(values, '.dbf', (b) => Buffer.concat([b, Buffer.alloc(40)])))).toHaveLength(5)
  })
})

describe('a .shp', () => {
  test.each<readonly [string, (bytes: Buffer) => unknown, string]>([
    ['that begins otherwise', (b) => b.writeInt32BE(1, 0), 'MalformedBody polygons.shp: it does not begin'],
    ['of another length', (b) => b.writeInt32BE(1e6, 24), 'MalformedBody polygons.shp: its header says'],
    ['of an unknown type', (b) => b.writeInt32LE(2, 32), 'MalformedBody polygons.shp: its shapes are of type 2'],
    ['of MultiPatches', (b) => b.writeInt32LE(31, 32), 'RecordsDoNotFit polygons.shp: its shapes are MultiPatches'],
    [
      'of another type than its records',
      (b) => b.writeInt32LE(3, 32),
      'RecordsDoNotFit Record 0: The shape is of type 5',
    ],
    ['with a record beyond its end', (b) => b.writeInt32BE(1e6, 104), 'MalformedBody polygons.shp: shape 0'],
    ['with a record of a negative length', (b) => b.writeInt32BE(-1, 104), 'MalformedBody polygons.shp: shape 0'],
    ['with more parts than fit', (b) => b.writeInt32LE(1e9, 144), 'RecordsDoNotFit Record 0: The shape says'],
    ['with a negative count of parts', (b) => b.writeInt32LE(-1, 144), 'RecordsDoNotFit Record 0: The shape says'],
    ['with more positions than fit', (b) => b.writeInt32LE(1e8, 148), 'RecordsDoNotFit Record 0: The shape says'],
    ['without parts', (b) => b.writeInt32LE(0, 144), 'RecordsDoNotFit Record 0: The shape has positions and no parts'],
    ['with a part that does not begin at 0', (b) => b.writeInt32LE(1, 152), 'RecordsDoNotFit Record 0: Part 0'],
    ['with parts in no order', (b) => b.writeInt32LE(0, 156), 'RecordsDoNotFit Record 0: Part 1'],
    ['with a part beyond its positions', (b) => b.writeInt32LE(10, 156), 'RecordsDoNotFit Record 0: Part 1'],
    [
      'with an infinite coordinate',
      (b) => b.writeDoubleLE(Infinity, 160),
      'RecordsDoNotFit Record 0: Position 0 is Inf',
    ],
    [
      'with coordinates that are no degrees',
      (b) => b.writeDoubleLE(361, 160),
      'RecordsDoNotFit Record 0: Position 0 has',
    ],
  ])('%s is refused', async (_, write, message) => {
    // Offsets are those of the first record, without the .shx that would find it elsewhere.
    expect(await refusal(without(polygons, '.shx'), '.shp', write)).toContain(
      message.replace('polygons.', 'maps/2026/polygons.'),
    )
  })

  test('with fewer or more shapes than rows is refused', async () => {
    const bare = without(values, '.shx')
    const fewer = (b: Buffer): unknown => b.writeInt32BE(50 + 14, 24)
    expect(await refusal(bare, '.shp', fewer)).toContain('values.shp: it has 1 shapes, and the .dbf has 6 rows')
    expect(await refusal(bare, '.dbf', (b) => b.writeUInt32LE(5, 4))).toContain('values.shp: it has more shapes')
  })

  test('with a record over the limit is refused with the record', async () => {
    const { kind, details } = await errorOf(fixture('public-countries.zip'), { limits: { recordBytes: 4096 } })
    expect([kind, details.errors?.[0]?.kind, details.errors?.[0]?.record]).toEqual([
      'RecordsDoNotFit',
      'RecordTooLarge',
      3,
    ])
  })
})

describe('a .shx', () => {
  const shx = entriesOf(values).find(({ name }) => name.endsWith('.shx'))?.content ?? Buffer.alloc(0)

  test('that lists another number of shapes is refused', async () => {
    const zip = patched(values, '.shx', (b) => b.writeInt32BE((shx.length - 8) / 2, 24))
    expect((await errorOf(zip)).message).toContain('values.shx: it lists 5 shapes, and the .dbf has 6 rows')
  })

  test('that goes back is refused', async () => {
    expect(await refusal(values, '.shx', (b) => b.writeInt32BE(50, 108))).toContain('shape 1 does not begin behind')
  })

  test('that leads beyond the end is refused', async () => {
    expect(await refusal(values, '.shx', (b) => b.writeInt32BE(1e6, 108))).toContain('shape 1 begins behind the end')
  })

  test('finds the shapes where bytes lie between them', async () => {
    const gap = 24
    const files = entriesOf(values).map((entry) => {
      const bytes = Buffer.from(entry.content)
      if (entry.name.endsWith('.shx')) {
        for (let at = 108; at < bytes.length; at += 8) bytes.writeInt32BE(bytes.readInt32BE(at) + gap / 2, at)
      } else if (entry.name.endsWith('.shp')) {
        bytes.writeInt32BE(bytes.readInt32BE(24) + gap / 2, 24)
        return { ...entry, content: Buffer.concat([bytes.subarray(0, 128), Buffer.alloc(gap), bytes.subarray(128)]) }
      }
      return { ...entry, content: bytes }
    })
    expect(await featureLines(zipOf(files))).toEqual(await featureLines(values))
  })
})

describe('faults of records', () => {
  test.each(['NaN', '-nan', 'inf'])('name for %s in a column of numbers what can be written instead', async (word) => {
    const zip = patched(values, '.dbf', (b) => {
      const [first, width] = [b.readUInt16LE(8) + 1, b.readUInt8(32 + 16)]
      b.write(word.padStart(width), first)
    })
    const { kind, details } = await errorOf(zip)
    expect(kind).toBe('RecordsDoNotFit')
    expect(details.errors).toMatchObject([{ record: 0, column: 'n', kind: 'WrongType' }])
    expect(details.hint).toContain('empty, which is null')
  })

  test('are told with record and column, up to a hundred', async () => {
    const { kind, details } = await errorOf(fixture('broken.zip'))
    expect([kind, details.errorsTotal]).toEqual(['RecordsDoNotFit', 6])
    expect(details.errors?.map(({ record, column, kind }) => `${record} ${column} ${kind}`)).toEqual([
      '1 n WrongType',
      '2 day BadDate',
      '3 yes WrongType',
      '4 text InvalidUtf8',
      '5 note WrongType',
      '6 undefined InvalidGeometry',
    ])
    const many = await errorOf(fixture('feet.zip'))
    expect([many.details.errors?.length, many.details.errorsTotal]).toEqual([100, 303])
    expect(many.details.hint).toContain('-s_srs EPSG:<code> -t_srs EPSG:4326')
  })

  test('of rings', async () => {
    const { details } = await errorOf(fixture('broken-rings.zip'))
    expect(details.errors?.map(({ record, kind }) => `${record} ${kind}`)).toEqual(
      [0, 1, 2, 3].map((record) => `${record} InvalidGeometry`),
    )
  })
})

describe('a character set', () => {
  test('that the .cpg names and nobody knows is refused', async () => {
    const { kind, details } = await errorOf(changed(values, '.cpg', () => Buffer.from('system')))
    expect([kind, details.hint]).toEqual(['UnsupportedEncoding', expect.stringContaining('charset=')])
  })

  test('that the parameter names and nobody knows is refused', async () => {
    expect((await errorOf(values, { charset: 'klingon' })).kind).toBe('InvalidParameter')
  })

  test('of the parameter goes before that of the .cpg', async () => {
    const [line] = await featureLines(values, { charset: 'windows-1252' })
    expect(line).toContain('TromsÃ¸')
  })

  test('that nobody names is UTF-8, and text that is none is refused with what to do', async () => {
    const bare = without(fixture('page-88591.zip'), '.cpg')
    const { details } = await errorOf(bare)
    expect([details.errors?.[0]?.kind, details.hint]).toEqual(['InvalidUtf8', expect.stringContaining('charset=')])
    for (const charset of ['ISO-8859-1', 'latin1', '88591', 'cp1252', 'ANSI 1252', 'LDID/87', '1252']) {
      expect((await featureLines(bare, { charset }))[0]).toContain('Zürich, Orléans')
    }
  })

  test('of one byte has bytes without a meaning: they are refused', async () => {
    const zip = changed(fixture('page-850.zip'), '.dbf', (b) => b.fill(0xff, 98, 100))
    const { details } = await errorOf(zip, { charset: '8859-7' })
    expect(details.errors?.[0]?.kind).toBe('InvalidUtf8')
  })
})
