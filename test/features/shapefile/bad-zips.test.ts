// Zips that are no shapefile, or mean harm: each is refused with a NodeError that names the file, and reading them takes
// neither memory nor time that they ask for.

import { describe, expect, test } from 'vitest'
import { zipHints } from '../../../src/features/shapefile/faults.ts'
import { readZip } from '../../../src/libraries/formats/zip.ts'
import { defaultLimits } from '../../helpers/default-limits.ts'
import { bodyFile } from '../../libraries/formats/reading.ts'
import { errorOf, featureLines, fixture } from './reading.ts'
import { entriesOf, type Entry, zipOf } from './zips.ts'

const values = fixture('values.zip')
const layer = entriesOf(values)
const MiB = 1024 * 1024

function withEntry(entry: Entry): Buffer {
  return zipOf([...layer, entry])
}

const text = Buffer.from('text')

test('the zips made here are read as those they are made of', async () => {
  expect(await featureLines(zipOf(layer))).toEqual(await featureLines(values))
  expect(await featureLines(zipOf(layer.map((entry) => ({ ...entry, stored: true }))))).toHaveLength(5)
  expect(await featureLines(zipOf(layer, 'a comment'))).toHaveLength(5)
})

test.each(['../values.prj', '/etc/values.prj', 'C:/values.prj', 'maps\\values.prj', 'a/../../b.prj'])(
  'the path %s is refused',
  async (name) => {
    const { kind, message } = await errorOf(withEntry({ name, content: text }))
    expect(kind).toBe('MalformedBody')
    expect(message).toContain(name)
  },
)

test.each(['__MACOSX/._values.shp', '.DS_Store', 'maps/.hidden.shp', 'notes.txt', 'values.shp.xml', 'values.sbn'])(
  'the file %s is passed over',
  async (name) => expect(await featureLines(withEntry({ name, content: text }))).toHaveLength(5),
)

test.each([true, false])('a file of more than 256 KiB comes in pieces, stored as it is: %s', async (stored) => {
  const most = 256 * 1024
  const read = async (size: number): Promise<unknown> => {
    const content = Buffer.alloc(size, 'some bytes')
    const [entry] = await readZip(bodyFile(zipOf([{ name: 'a.shp', content, stored }])), defaultLimits(), zipHints)
    const pieces: Uint8Array[] = []
    for await (const piece of entry?.read() ?? []) pieces.push(piece)
    expect(Buffer.concat(pieces).equals(content)).toBe(true)
    return pieces.map(({ length }) => length)
  }
  expect([await read(most - 1), await read(most), await read(most + 1)]).toEqual([[most - 1], [most], [most, 1]])
})

describe('a file in the zip', () => {
  const cases: readonly (readonly [string, Entry, string, string])[] = [
    ['that is encrypted', { name: 'a.txt', content: text, says: { flags: 1 } }, 'MalformedBody', 'a.txt'],
    ['of strong encryption', { name: 'a.txt', content: text, says: { flags: 0x41 } }, 'MalformedBody', 'The zip'],
    ['of an unknown method', { name: 'a.txt', content: text, says: { method: 9 } }, 'UnsupportedEncoding', 'a.txt'],
    ['that is a zip', { name: 'inner.zip', content: values }, 'MalformedBody', 'inner.zip'],
    ['that is there twice', { name: 'VALUES.DBF', content: text }, 'MalformedBody', 'VALUES.DBF'],
    ['that says it is huge', { name: 'a.txt', content: text, says: { size: 2 ** 31 } }, 'BodyTooLarge', 'a.txt'],
    ['packed larger than the zip', { name: 'a', content: text, says: { packed: 1e9 } }, 'MalformedBody', 'a'],
  ]
  test.each(cases)('%s is refused', async (_, entry, kind, name) => {
    const error = await errorOf(withEntry(entry))
    expect([error.kind, error.message]).toEqual([kind, expect.stringContaining(name)])
  })
})

test('a file that is larger than the zip says is refused once it is', async () => {
  const dbf = layer.findIndex(({ name }) => name.endsWith('.dbf'))
  const lying = layer.map((entry, i) => (i === dbf ? { ...entry, says: { size: entry.content.length - 1 } } : entry))
  expect((await errorOf(zipOf(lying))).message).toContain('values.dbf: the file is larger')
  const short = layer.map((entry, i) => (i === dbf ? { ...entry, says: { size: entry.content.length + 9 } } : entry))
  expect((await errorOf(zipOf(short))).message).toContain('values.dbf: the file has')
})

test('a bomb is refused by what it would inflate to, or by its ratio', async () => {
  const zeros = Buffer.alloc(64 * MiB)
  const bomb = withEntry({ name: 'bomb.dat', content: zeros })
  const byRatio = await errorOf(bomb)
  expect([byRatio.kind, byRatio.details.limit?.name]).toEqual(['BodyTooLarge', 'inflatedRatio'])
  expect(byRatio.message).toContain('bomb.dat')
  const bySize = await errorOf(bomb, { limits: { inflatedBytes: 32 * MiB, inflatedRatio: 1e6 } })
  expect([bySize.kind, bySize.details.limit]).toEqual([
    'BodyTooLarge',
    { name: 'inflatedBytes', value: 32 * MiB, unit: 'bytes' },
  ])
})

test('many names over the same bytes are refused', async () => {
  const [first] = layer
  const content = Buffer.alloc(20_000, 'no matter what')
  const noise = Buffer.from(content.map((_, i) => (i * 7919) % 251))
  const entries: Entry[] = [{ name: 'first.dat', content: noise, stored: true }]
  for (let i = 0; i < 50; i++) {
    entries.push({
      name: `again-${i}.dat`,
      content: noise,
      raw: Buffer.alloc(0),
      says: { method: 0, packed: noise.length, offset: 0 },
    })
  }
  const { kind, message } = await errorOf(zipOf([...entries, ...(first === undefined ? [] : [first])]))
  expect([kind, message]).toEqual(['MalformedBody', expect.stringContaining('of the zip overlap')])
})

test('more files than the limit are refused before their names are read', async () => {
  const many = Array.from({ length: 7 }, (_, i) => ({ name: `${i}.txt`, content: text }))
  const error = await errorOf(zipOf([...layer, ...many]), { limits: { zipEntries: 11 } })
  expect([error.kind, error.details.limit]).toEqual(['BodyTooLarge', { name: 'zipEntries', value: 11, unit: 'files' }])
  expect(await featureLines(zipOf([...layer, ...many]), { limits: { zipEntries: 12 } })).toHaveLength(5)
})

test('a zip64 directory that says that it has 2^53 files is refused', async () => {
  const zip = zipOf(layer)
  const end = zip.subarray(zip.length - 22)
  const zip64 = Buffer.alloc(56)
  zip64.write('PK\x06\x06', 0, 'latin1')
  zip64.writeBigUInt64LE(2n ** 53n, 32)
  zip64.writeBigUInt64LE(0n, 48)
  const locator = Buffer.alloc(20)
  locator.write('PK\x06\x07', 0, 'latin1')
  locator.writeBigUInt64LE(BigInt(zip.length - 22), 8)
  const error = await errorOf(Buffer.concat([zip.subarray(0, -22), zip64, locator, end]))
  expect([error.kind, error.details.limit?.name]).toEqual(['BodyTooLarge', 'zipEntries'])
  locator.writeBigUInt64LE(2n ** 60n, 8)
  expect((await errorOf(Buffer.concat([zip.subarray(0, -22), zip64, locator, end]))).kind).toBe('MalformedBody')
})

test('a wrong checksum is found, though the rows could be read', async () => {
  for (const ending of ['.dbf', '.shp', '.shx', '.prj']) {
    const lying = layer.map((entry) => (entry.name.endsWith(ending) ? { ...entry, says: { crc: 1 } } : entry))
    const { kind, message } = await errorOf(zipOf(lying))
    expect([kind, message]).toEqual(['MalformedBody', expect.stringContaining(`values${ending}: the checksum`)])
  }
})

test('a zip that is cut anywhere is refused', async () => {
  for (let end = 0; end < values.length; end += 13) {
    expect((await errorOf(values.subarray(0, end))).kind).toBe('MalformedBody')
  }
})

describe('what is no shapefile says what it is', () => {
  test.each([
    ['xl/workbook.xml', 'Excel'],
    ['content.xml', 'OpenDocument'],
    ['city.gdb/a00000001.gdbtable', 'geodatabase'],
    ['doc.kml', 'KML'],
    ['rows.csv', 'Unpack'],
    ['readme.md', '.shp, .dbf, .prj and .cpg'],
  ])('%s', async (name, hint) => {
    const error = await errorOf(zipOf([{ name, content: text }]))
    expect([error.kind, error.details.hint]).toEqual(['MalformedBody', expect.stringContaining(hint)])
  })

  test('an empty zip', async () => expect((await errorOf(zipOf([]))).message).toContain('it is empty'))
  test('no zip', async () => expect((await errorOf(text)).message).toContain('is not a zip'))
  test('no bytes', async () => expect((await errorOf(Buffer.alloc(0))).kind).toBe('MalformedBody'))
})

describe('several layers', () => {
  const both = zipOf([...layer, ...entriesOf(fixture('lines.zip')), ...entriesOf(fixture('polygons.zip'))])

  test('one has to be named', async () => {
    const error = await errorOf(both)
    expect([error.kind, error.details.candidates]).toEqual(['InvalidRequest', ['values', 'lines', 'polygons']])
  })

  test.each(['lines', 'LINES', 'Lines'])('%s is read', async (layerName) => {
    expect(await featureLines(both, { layer: layerName })).toHaveLength(2)
  })

  test('by its path too', async () => {
    expect(await featureLines(both, { layer: 'maps/2026/polygons' })).toHaveLength(10)
  })

  test('one that is not there is refused with those that are', async () => {
    const error = await errorOf(both, { layer: 'roads' })
    expect([error.kind, error.details.candidates?.length]).toEqual(['InvalidParameter', 3])
  })

  test('of one name in two folders need their paths', async () => {
    const twice = zipOf([...layer, ...layer.map((entry) => ({ ...entry, name: `other/${entry.name}` }))])
    const error = await errorOf(twice)
    expect(error.details.candidates).toEqual(['values', 'other/values'])
    expect(await featureLines(twice, { layer: 'other/values' })).toHaveLength(5)
  })
})
