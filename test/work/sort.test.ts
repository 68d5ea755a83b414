// Sorted copies: all rows of a merged file, in the order of some columns, nulls last, ties by offset; a copy with a row of
// another slice, or two rows swapped, is refused.

import { zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sliceBatch } from '../../src/arrow/columns.ts'
import { createLogicalHash } from '../../src/arrow/logical-hash.ts'
import { concatBytes } from '../../src/lib/bytes.ts'
import { type Field, innerType } from '../../src/model/schema.ts'
import { openSlice } from '../../src/parquet/read-slice.ts'
import { groupTimes } from '../../src/parquet/time-range.ts'
import { encodeSlice } from '../../src/parquet/write-slice.ts'
import { checkSorted, sortedGroupRows, type SortOrder, sortRows } from '../../src/work/sort.ts'
import { arbTable, batchOf, batchRows, type Value } from '../arrow/columns-helper.ts'
import { decompress, readSlice } from '../helpers/slices.ts'

const compress = (bytes: Uint8Array): Uint8Array => new Uint8Array(zstdCompressSync(bytes))
const offset: Field = { name: 'offset', type: { kind: 'Int64' } }
const firstOffset = 1000

interface Sortable {
  readonly bytes: Uint8Array
  readonly order: SortOrder
}

/** A merged file of slices that end at these rows, the first half of them without the last column, where it is optional. */
function sortable(
  fields: readonly Field[],
  rows: readonly (readonly Value[])[],
  { ends, sortBy }: { readonly ends: readonly number[]; readonly sortBy: readonly string[] },
): Sortable {
  const last = fields.at(-1)
  const isLate = last?.type.kind === 'Option' && fields.length > 2
  const schemas = isLate ? [fields.slice(0, -1), fields] : [fields]
  const early = isLate ? (ends[ends.length >> 1] ?? 0) : 0
  const cells = rows.map((row, at) => (at < early ? [...row.slice(0, -1), null] : row))
  const batch = batchOf(fields, cells)
  const slices = ends.map((to, at) => {
    const from = ends[at - 1] ?? 0
    const schema = to <= early ? 0 : schemas.length - 1
    const own = schemas[schema] ?? fields
    const hash = createLogicalHash(own)
    const part = sliceBatch(batch, from, to)
    hash.update({ rows: part.rows, columns: part.columns.slice(0, own.length) })
    return { rows: to - from, logicalHash: hash.digest(), schema }
  })
  const bytes = concatBytes(encodeSlice({ fields, compress }, [batch]))
  return { bytes, order: { slices, schemas, sortBy, offsetColumn: 'offset', firstOffset } }
}

function compared(a: Value | undefined, b: Value | undefined): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? 1 : -1
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return Number(a) === Number(b) ? (BigInt(String(a)) < BigInt(String(b)) ? -1 : 1) : Number(a) < Number(b) ? -1 : 1
}

const sortableKind = /^(?:U?Int\d+|String|Date|Timestamp)$/

const table = fc
  .tuple(arbTable, fc.array(fc.nat(), { maxLength: 6 }), fc.nat())
  .filter(
    ([{ fields, rows }]) =>
      rows.length > 0 && fields.every(({ type }) => type.kind !== 'Timestamp' || type.unit !== 'Second'),
  )
  .map(([{ fields, rows }, cuts, turn]) => {
    const ends = [...new Set([...cuts.map((cut) => (cut % rows.length) + 1), rows.length])].sort((a, b) => a - b)
    const usable = fields.filter(({ type }) => sortableKind.test(innerType(type).kind)).map(({ name }) => name)
    const sortBy = [...usable.slice(turn % (usable.length + 1)), ...usable.slice(0, turn % (usable.length + 1))]
    const all = rows.map((row, at): Value[] => [BigInt(firstOffset + at), ...row])
    return { fields: [offset, ...fields], rows: all, ends, sortBy: sortBy.slice(0, 3) }
  })

describe('a sorted copy', () => {
  it('has the rows of its slices by its columns, nulls last, those that are equal by offset', async () => {
    await fc.assert(
      fc.asyncProperty(table, async ({ fields, rows, ends, sortBy }) => {
        const { bytes, order } = sortable(fields, rows, { ends, sortBy })
        const merged = batchRows(await readSlice(bytes))
        const places = sortBy.map((name) => fields.findIndex((field) => field.name === name))
        const expected = merged.toSorted((a, b) => {
          return places.reduce((found, place) => found || compared(a[place], b[place]), 0)
        })
        const { file } = await sortRows(bytes, order)
        expect(batchRows(await readSlice(file))).toEqual(expected)
      }),
      { numRuns: 100 },
    )
  })

  it('has row groups that hold few values each', async () => {
    const fields: Field[] = [offset, { name: 'device', type: { kind: 'Int32' } }]
    const rows = Array.from({ length: 40_000 }, (_, at): Value[] => [BigInt(firstOffset + at), (at * 7919) % 1000])
    const { bytes, order } = sortable(fields, rows, { ends: [20_000, 40_000], sortBy: ['device'] })
    const { file } = await sortRows(bytes, order)
    expect(groupTimes(file, 'none').map((group) => group.rows)).toEqual([...Array(4).fill(sortedGroupRows), 7232])
    const spans: number[][] = []
    for await (const { columns } of openSlice(file, { decompress, columns: ['device'] }).batches) {
      const { values } = columns[0]!
      const devices = new Int32Array(values.buffer, values.byteOffset, values.length / 4)
      spans.push([devices[0]!, devices.at(-1)!])
    }
    expect(spans.slice(0, 2)).toEqual([
      [0, 204],
      [204, 409],
    ])
  })
})

describe('what is not as the chain says', () => {
  const fields: Field[] = [offset, { name: 'k', type: { kind: 'Int32' } }, { name: 'v', type: { kind: 'String' } }]
  const rows = [3, 1, 2, 1, 3].map((k, at): Value[] => [BigInt(firstOffset + at), k, `v${at}`])
  const cut = { ends: [2, 3, 5], sortBy: ['k'] }
  const { bytes, order } = sortable(fields, rows, cut)
  const changed = (...cells: (readonly [row: number, column: number, value: Value])[]): Uint8Array => {
    const other = rows.map((row) => [...row])
    for (const [row, column, value] of cells) other[row]![column] = value
    return concatBytes(encodeSlice({ fields, compress }, [batchOf(fields, other)]))
  }

  const inOrder = (...places: number[]): Promise<void> => {
    const cells = places.map((place) => rows[place]!)
    return checkSorted(concatBytes(encodeSlice({ fields, compress }, [batchOf(fields, cells)])), order)
  }

  it('is refused: two rows swapped, of one value or of two, and a row that is lost', async () => {
    await expect(inOrder(1, 3, 2, 0, 4)).resolves.toBeUndefined()
    for (const places of [
      [3, 1, 2, 0, 4],
      [1, 3, 2, 4, 0],
      [1, 2, 3, 0, 4],
      [0, 1, 2, 3, 4],
    ]) {
      await expect(inOrder(...places)).rejects.toThrow('has two rows in another order')
    }
    await expect(inOrder(1, 3, 2, 0)).rejects.toThrow('than its slices')
    await expect(inOrder(1, 3, 2, 0, 0)).rejects.toThrow('has an offset twice')
  })

  it('is refused: values of two rows swapped, within a slice or across two, a row of another slice, a value', async () => {
    const other = [
      changed([3, 2, 'v4'], [4, 2, 'v3']),
      changed([0, 2, 'v4'], [4, 2, 'v0']),
      changed([0, 0, 1004n], [4, 0, 1000n]),
      changed([2, 2, 'v']),
      changed([0, 2, 'v9']),
    ]
    for (const file of other) await expect(sortRows(file, order)).rejects.toThrow('has other rows than the slice')
    await expect(sortRows(bytes, { ...order, slices: order.slices.slice(1) })).rejects.toThrow('than its slices')
    for (const value of [1001n, 1005n, 999n]) {
      await expect(sortRows(changed([0, 0, value]), order)).rejects.toThrow('has an offset twice')
    }
    await expect(sortRows(bytes, { ...order, sortBy: ['gone'] })).rejects.toThrow("no one column 'gone'")
    const typed = [fields.map((field) => ({ ...field, type: { kind: 'Int64' } as const }))]
    await expect(sortRows(bytes, { ...order, schemas: typed })).rejects.toThrow('other columns')
    await expect(sortRows(bytes, order)).resolves.toMatchObject({ hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })
})
