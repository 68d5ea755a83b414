// Slices and Arrow streams read by pyarrow, where python3 has it (pip install pyarrow); skipped elsewhere.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeArrowStream } from '../../../../src/libraries/columnar/arrow/ipc.ts'
import { type DataType, innerType, isOptional } from '../../../../src/libraries/model/schema.ts'
import { openSlice } from '../../../../src/libraries/columnar/parquet/read-slice.ts'
import { arbTable, batchOf, batchRows, type Value } from '../arrow/columns-helper.ts'
import { readSlice } from '../../../helpers/slices.ts'
import { writeSlice } from './slice-helper.ts'

// Prints, for each file, names, types and nullability, then the rows as text; times as integers, floats as bits.
const script = `
import json, struct, sys
import pyarrow as pa, pyarrow.parquet as pq

def plain(t):
    if pa.types.is_list(t): return pa.list_(plain(t.value_type))
    if pa.types.is_timestamp(t) or pa.types.is_time64(t): return pa.int64()
    if pa.types.is_date(t) or pa.types.is_time32(t): return pa.int32()
    return t

def text(v, t):
    if v is None: return None
    if pa.types.is_list(t): return [text(i, t.value_type) for i in v]
    if pa.types.is_decimal(t): return str(int(v.scaleb(t.scale, __import__('decimal').Context(prec=60))))
    if pa.types.is_floating(t): return struct.pack('>d', v).hex()
    if pa.types.is_binary(t): return v.hex()
    if pa.types.is_boolean(t): return v
    return str(v)

def name(t):
    if pa.types.is_list(t): return ['list', name(t.value_type), t.value_field.nullable]
    return str(t)

for path in sys.stdin.read().split():
    table = pq.read_table(path) if path.endswith('.parquet') else pa.ipc.open_stream(path).read_all()
    table.validate(full=True)
    fields = [[f.name, name(f.type), f.nullable] for f in table.schema]
    columns = []
    for column in table.columns:
        values = column.cast(plain(column.type))
        columns.append([text(v, values.type) for v in values.to_pylist()])
    print(json.dumps([fields, columns]))
    if path.endswith('.parquet'):
        odd = len(path) % 2
        pq.write_table(table, path + '.copy', data_page_version='2.0' if odd else '1.0', data_page_size=64,
            compression='zstd' if odd else 'snappy', use_dictionary=bool(table.num_rows % 2), row_group_size=16)
`

const hasPyArrow = spawnSync('python3', ['-c', 'import pyarrow.parquet']).status === 0

function typeName(type: DataType): unknown {
  switch (type.kind) {
    case 'Float32':
      return 'float'
    case 'Float64':
      return 'double'
    case 'Date':
      return 'date32[day]'
    case 'Time':
      return type.unit === 'Microsecond' ? 'time64[us]' : 'time32[ms]'
    case 'Timestamp':
      return type.unit === 'Microsecond' ? 'timestamp[us, tz=UTC]' : 'timestamp[ms, tz=UTC]'
    case 'Decimal':
      return `decimal128(${type.precision}, ${type.scale})`
    case 'List':
      return ['list', typeName(innerType(type.itemType)), isOptional(type.itemType)]
    default:
      return type.kind.toLowerCase()
  }
}

function text(value: Value, type: DataType): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  const inner = innerType(type)
  if (Array.isArray(value)) return value.map((item) => text(item, inner.kind === 'List' ? inner.itemType : inner))
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (!inner.kind.startsWith('Float')) return String(value)
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(Number(value))
  return bytes.toString('hex')
}

test.skipIf(!hasPyArrow)('pyarrow reads slices and streams, and what it writes is read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pyarrow-'))
  const tables = fc.sample(arbTable, { numRuns: 150, seed: 7 })
  const paths: string[] = []
  const expected: unknown[] = []
  for (const [i, { fields, rows }] of tables.entries()) {
    const batch = batchOf(fields, rows)
    paths.push(join(folder, `${i}.parquet`), join(folder, `${i}.arrows`))
    writeFileSync(join(folder, `${i}.parquet`), writeSlice(fields, [batch], i % 2 === 0))
    writeFileSync(join(folder, `${i}.arrows`), encodeArrowStream(fields, [batch]))
    const schema = fields.map(({ name, type }) => [name, typeName(innerType(type)), isOptional(type)])
    const columns = fields.map(({ type }, c) => rows.map((row) => text(row[c]!, type)))
    expected.push([schema, columns], [schema, columns])
  }
  const { stdout, stderr } = spawnSync('python3', ['-c', script], { input: paths.join('\n'), maxBuffer: 2 ** 28 })
  const copies = paths.filter((path) => path.endsWith('.parquet')).map((path) => readFileSync(`${path}.copy`))
  rmSync(folder, { recursive: true })
  expect(stderr.toString()).toBe('')
  const read: unknown[] = stdout
    .toString()
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
  expect(read).toEqual(expected)
  for (const [i, copy] of copies.entries()) {
    const { fields, rows } = tables[i]!
    expect(openSlice(copy).fields).toEqual(fields)
    expect(batchRows(await readSlice(copy))).toEqual(rows)
  }
})
