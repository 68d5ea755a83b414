// A message may leave out columns that its rows do not bring: the block is the same to the byte.

import { expect, test } from 'vitest'
import { broughtRows, fieldsAt } from '../../../src/libraries/columnar/arrow/brought-rows.ts'
import { encodeArrowStream } from '../../../src/libraries/columnar/arrow/ipc.ts'
import { nullColumn } from '../../../src/libraries/columnar/arrow/null-column.ts'
import { decodeMessage, encodeMessage } from '../../../src/node/log/messages.ts'
import { type DataType, type Field, optional } from '../../../src/libraries/model/schema.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { decodeArrowStream } from '../../helpers/slices.ts'
import { buildAll, datasetId, dump, rowsPayload, schemaOf, TestWriter, userFields } from './support.ts'

const id = datasetId('a')
const types: readonly DataType[] = [
  { kind: 'Bool' },
  { kind: 'Int8' },
  { kind: 'Float64' },
  { kind: 'Decimal', precision: 18, scale: 2 },
  { kind: 'String' },
  { kind: 'List', itemType: optional({ kind: 'Int64' }) },
]
const absent = Array.from({ length: 300 }, (_, i): Field => {
  return { name: `absent_${i}`, type: optional(types[i % types.length] ?? { kind: 'Bool' }) }
})
const fields = [...userFields, ...absent]

test.each([3, 2000, 10_000])(
  '%i rows',
  async (rows) => {
    const brought = decodeArrowStream(rowsPayload(rows, 0))
    const columns = [...brought.columns, ...absent.map((field) => nullColumn(field, rows))]
    const payloadFields = schemaOf(fields).fields.slice(3)
    const full = encodeArrowStream(payloadFields, [{ rows, columns }])
    const narrow = broughtRows({ rows, columns })
    const lacking = encodeArrowStream(fieldsAt(payloadFields, narrow.places), [narrow])
    expect(lacking.length).toBeLessThan(full.length)
    const writer = new TestWriter('w')
    const create = writer.create(id, 'acme/a', { schema: schemaOf(fields) })
    const message = decodeMessage(writer.rows(id, [{ rows }]))
    if (message.kind !== 'message') throw new TypeError('a message')
    const cut = writer.cut([{ dataset: id, sequence: 3 }])
    const stores = [full, lacking].map(async (payload) => {
      const log = Object.assign(openMemoryLog({ id: 'log-1' }), { release: async () => {} })
      await log.append(0, [create, encodeMessage(message.header, payload), cut])
      const store = openMemoryStore()
      await buildAll(log, store)
      return dump(store, 'datasets')
    })
    const [one, other] = await Promise.all(stores)
    expect(one?.size).toBeGreaterThan(3)
    expect(other).toEqual(one)
  },
  60_000,
)
