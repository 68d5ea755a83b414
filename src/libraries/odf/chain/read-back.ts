// A schema written and read back as a slice and as a block before it is accepted: one that does not come back would halt
// its dataset at the first block. Pure; a slice without rows is little but its footer.

import { concatBytes } from '../../base/bytes.ts'
import { NodeError, decoded } from '../../base/errors.ts'
import { type DataSchema, type Field, sameType } from '../../model/schema.ts'
import { decodeBlock, encodeBlock } from '../block.ts'
import { openSlice } from '../../columnar/parquet/read-slice.ts'
import { encodeSlice } from '../../columnar/parquet/write-slice.ts'

/** Throws NodeError `InvalidColumnName` when slices or blocks do not give the columns of `schema` back. */
export function demandReadBack(schema: DataSchema): void {
  const name = firstLost(schema.fields, fieldsOfSlice(schema.fields)) ?? firstLost(schema.fields, fieldsOfBlock(schema))
  if (name === undefined) return
  throw new NodeError(
    'InvalidColumnName',
    `The column ${JSON.stringify(name)} cannot be read back once it is stored.`,
    {
      hint: 'Give it another name. Nothing was stored.',
    },
  )
}

/** The name of the first field that is not there as it was; the first of all where nothing can be read. */
function firstLost(fields: readonly Field[], there: readonly Field[] | undefined): string | undefined {
  const lost = fields.find((field, index) => {
    const other = there?.[index]
    return other === undefined || other.name !== field.name || !sameType(other.type, field.type)
  })
  return lost?.name
}

function fieldsOfSlice(fields: readonly Field[]): readonly Field[] | undefined {
  const file = concatBytes(encodeSlice({ fields }, []))
  return decoded(() => openSlice(file).fields)
}

function fieldsOfBlock(schema: DataSchema): readonly Field[] | undefined {
  const block = encodeBlock({
    systemTime: '2000-01-01T00:00:00Z',
    sequenceNumber: 1,
    event: { kind: 'SetDataSchema', schema },
  })
  const event = decoded(() => decodeBlock(block))?.block.event
  return event?.kind === 'SetDataSchema' ? event.schema?.fields : undefined
}
