// Merging: the rows of slices of growing schemas come back in order, whatever was merged of what; a slice or a merged file
// that is not what the chain says of it is refused.

import { zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concatBatches } from '../../../../src/libraries/columnar/arrow/columns.ts'
import { nullColumn } from '../../../../src/libraries/columnar/arrow/null-column.ts'
import { createLogicalHash } from '../../../../src/libraries/columnar/arrow/logical-hash.ts'
import { sha3Hash } from '../../../../src/libraries/base/ids/identifiers.ts'
import { must } from '../../../../src/libraries/base/assert.ts'
import { concatBytes } from '../../../../src/libraries/base/bytes.ts'
import type { Field, RecordBatch } from '../../../../src/libraries/model/schema.ts'
import { encodeSlice } from '../../../../src/libraries/columnar/parquet/write-slice.ts'
import { type MergeOrder, mergeSlices } from '../../../../src/node/machine/work/merge.ts'
import { arbTable, batchOf } from '../../../libraries/columnar/arrow/columns-helper.ts'
import { readSlice } from '../../../helpers/slices.ts'

interface Slice {
  readonly fields: readonly Field[]
  readonly rows: RecordBatch
}

const compress = (bytes: Uint8Array): Uint8Array => new Uint8Array(zstdCompressSync(bytes))

function fileOf({ fields, rows }: Slice): Uint8Array {
  return concatBytes(encodeSlice({ fields, compress }, [rows]))
}

function logicalHashOf({ fields, rows }: Slice): string {
  const hash = createLogicalHash(fields)
  hash.update(rows)
  return hash.digest()
}

/** The slices as they are stored, and what the chain says of them. */
function orderOf(slices: readonly Slice[]): { readonly bytes: Uint8Array; readonly order: MergeOrder } {
  const files = slices.map(fileOf)
  const schemas = [...new Set(slices.map(({ fields }) => fields))]
  const parts = files.map((file, at) => ({
    sizeBytes: file.length,
    hash: sha3Hash(file),
    schema: schemas.indexOf(must(slices[at], 'a slice').fields),
  }))
  const told = slices.map((slice) => ({
    rows: slice.rows.rows,
    logicalHash: logicalHashOf(slice),
    schema: schemas.indexOf(slice.fields),
  }))
  return { bytes: concatBytes(files), order: { parts, slices: told, schemas } }
}

/** The rows under a later schema. */
function under(fields: readonly Field[], { rows }: Slice): RecordBatch {
  const columns = fields.map((field, at) => rows.columns[at] ?? nullColumn(field, rows.rows))
  return { rows: rows.rows, columns }
}

/** Rows of one table in slices, the first of which lack columns that came later. */
const history: fc.Arbitrary<readonly Slice[]> = fc
  .tuple(arbTable, fc.array(fc.nat(), { maxLength: 8 }), fc.nat())
  .filter(
    ([{ fields, rows }]) =>
      rows.length > 0 && fields.every(({ type }) => type.kind !== 'Timestamp' || type.unit !== 'Second'),
  )
  .map(([{ fields, rows }, cuts, seed]) => {
    // A column that comes later is optional.
    const optionalFrom = fields.findLastIndex(({ type }) => type.kind !== 'Option') + 1
    const early = Math.max(1, optionalFrom + (seed % (fields.length - optionalFrom + 1)))
    const ends = [...new Set([...cuts.map((cut) => cut % rows.length), rows.length])].sort((a, b) => a - b)
    const first = fields.slice(0, early)
    return ends.flatMap((to, at): Slice[] => {
      const part = rows.slice(ends[at - 1] ?? 0, to)
      const own = to < rows.length && at < ends.length / 2 ? first : fields
      return part.length === 0
        ? []
        : [
            {
              fields: own,
              rows: batchOf(
                own,
                part.map((row) => row.slice(0, own.length)),
              ),
            },
          ]
    })
  })

describe('a merged file', () => {
  it('has the rows of its slices in order, those of files that were merged before among them', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (slices) => {
        const { bytes, order } = orderOf(slices)
        const { file } = await mergeSlices(bytes, order)
        const fields = must(order.schemas.at(-1), 'a schema')
        const expected = { fields, rows: concatBatches(slices.map((slice) => under(fields, slice))) }
        expect(logicalHashOf({ fields, rows: await readSlice(file) })).toBe(logicalHashOf(expected))
        // Merged in two steps, with the first half merged before.
        const half = Math.max(1, slices.length >> 1)
        const firstOrder = orderOf(slices.slice(0, half))
        const first = (await mergeSlices(firstOrder.bytes, firstOrder.order)).file
        const rest = orderOf(slices.slice(half))
        const merged = { sizeBytes: first.length, hash: undefined, schema: firstOrder.order.schemas.length - 1 }
        const again = await mergeSlices(concatBytes([first, rest.bytes]), {
          ...order,
          parts: [merged, ...order.parts.slice(half)],
        })
        expect(logicalHashOf({ fields, rows: await readSlice(again.file) })).toBe(logicalHashOf(expected))
      }),
      { numRuns: 60 },
    )
  })
})

describe('what is not as the chain says', () => {
  const fields: readonly Field[] = [
    { name: 'offset', type: { kind: 'Int64' } },
    { name: 'k', type: { kind: 'Option', inner: { kind: 'Int64' } } },
  ]
  const rowsOf = (...values: bigint[]): RecordBatch => ({
    rows: values.length,
    columns: fields.map(({ name }) => ({
      name,
      type: { kind: 'Int64' },
      nullable: name === 'k',
      rows: values.length,
      nullCount: 0,
      values: new Uint8Array(BigInt64Array.from(values).buffer),
    })),
  })
  const slices = [
    { fields, rows: rowsOf(1n, 2n, 3n) },
    { fields, rows: rowsOf(4n, 5n) },
  ]
  const { bytes, order } = orderOf(slices)

  it('is refused: two rows of a slice, or of two slices, swapped', async () => {
    const within = orderOf([{ fields, rows: rowsOf(2n, 1n, 3n) }, must(slices[1], 'a slice')])
    const across = orderOf([
      { fields, rows: rowsOf(1n, 2n, 4n) },
      { fields, rows: rowsOf(3n, 5n) },
    ])
    for (const { bytes: swapped, order: parts } of [within, across]) {
      await expect(mergeSlices(swapped, { ...parts, slices: order.slices })).rejects.toThrow('has other rows')
    }
    await expect(mergeSlices(bytes, order)).resolves.toMatchObject({ hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })

  it('is refused: another byte, a row more or less, a column of another type', async () => {
    const broken = Uint8Array.from(bytes)
    broken[20] = (broken[20] ?? 0) ^ 1
    await expect(mergeSlices(broken, order)).rejects.toThrow('has other bytes')
    await expect(mergeSlices(bytes, { ...order, slices: order.slices.slice(1) })).rejects.toThrow('merged file')
    const more = [...order.slices, { rows: 1, logicalHash: 'f9680c00120', schema: 0 }]
    await expect(mergeSlices(bytes, { ...order, slices: more })).rejects.toThrow('fewer rows')
    const other = [fields.map((field) => ({ ...field, type: { kind: 'Int32' } as const }))]
    await expect(mergeSlices(bytes, { ...order, schemas: other })).rejects.toThrow('other columns')
  })

  it('is refused: a value where the slice has no column', async () => {
    const narrow = fields.slice(0, 1)
    const full = must(slices[0], 'a slice').rows
    const lacking = orderOf([
      { fields: narrow, rows: { rows: 3, columns: full.columns.slice(0, 1) } },
      ...slices.slice(1),
    ])
    // A merged file of the first slice with values in the column that it lacks.
    const first = fileOf({ fields, rows: full })
    const second = fileOf(must(slices[1], 'a slice'))
    const parts = [{ sizeBytes: first.length, hash: undefined, schema: 1 }, ...lacking.order.parts.slice(1)]
    const swapped = mergeSlices(concatBytes([first, second]), { ...lacking.order, parts })
    await expect(swapped).rejects.toThrow('a column that their slice lacks')
  })
})
