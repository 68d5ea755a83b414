// A footer without what its readers may take wrongly: of columns with times in milliseconds, the bounds, the dictionary's
// promise to hold every value, and indexes. Iceberg's Java reader compares such bounds and values with microseconds and
// leaves row groups out that hold rows (https://github.com/apache/iceberg/issues/18173). All else is as it was.
// Source: Apache Parquet, parquet.thrift (FileMetaData, RowGroup, ColumnChunk, ColumnMetaData).

import { concatBytes, utf8 } from '../../base/bytes.ts'
import { logicalTypes, readFooter, type SchemaElement } from './footer.ts'
import { encodings } from './page-header.ts'
import { ThriftReader } from './thrift-reader.ts'
import { ThriftWriter } from './thrift.ts'
import { footerBytes, trailerBytes } from './time-range.ts'

const magic = utf8('PAR1')
const milliseconds = 1
/** TIME_MILLIS, TIMESTAMP_MILLIS. */
const convertedMilliseconds: readonly (number | undefined)[] = [7, 9]
const timeTypes: readonly number[] = [logicalTypes.time, logicalTypes.timestamp]

/** What becomes of a field of a structure: nothing, or what this writes, having read it. Other fields are copied. */
type Edits = Readonly<Record<number, 'drop' | ((field: Field) => void)>>

interface Field {
  readonly id: number
  readonly from: ThriftReader
  readonly to: ThriftWriter
}

/**
 * What stands in the place of the last `replacedBytes` of a file, whose end with its whole footer this is: another footer,
 * its length and the magic. Throws DecodeError.
 */
export function editedEnd(end: Uint8Array): { readonly replacedBytes: number; readonly end: Uint8Array } {
  const replacedBytes = footerBytes(end)
  const footer = end.subarray(end.length - replacedBytes, end.length - trailerBytes)
  const { schema } = readFooter(footer, { rowGroups: end.length, schemaElements: end.length }, [])
  const isTime = schema.filter(({ children }) => children === undefined).map(isInMilliseconds)
  const to = new ThriftWriter()
  copyStruct(new ThriftReader(footer), to, {
    4: eachOf(() => ({ 1: eachOf((leaf) => (isTime[leaf] === true ? ofChunk : {})) })),
  })
  const edited = to.finish()
  const length = new Uint8Array(4)
  new DataView(length.buffer).setUint32(0, edited.length, true)
  return { replacedBytes, end: concatBytes([edited, length, magic]) }
}

function isInMilliseconds({ logical, converted }: SchemaElement): boolean {
  if (logical === undefined) return convertedMilliseconds.includes(converted)
  return timeTypes.includes(logical.member) && logical.unit === milliseconds
}

/** Places of indexes of pages, and the metadata of the column. */
const ofChunk: Edits = {
  3: ({ id, from, to }) => to.struct(id, () => copyStruct(from, to, ofMetadata)),
  4: 'drop',
  5: 'drop',
  6: 'drop',
  7: 'drop',
}

/** Encodings, with one beside the dictionary's; bounds, how many pages have which encoding, the place of a Bloom filter. */
const ofMetadata: Edits = {
  2: ({ id, from, to }) => {
    const found = new Set<number>()
    from.list(from.bytes.length, () => found.add(from.integer()))
    to.i32s(id, [...found.add(encodings.plain)])
  },
  12: 'drop',
  13: 'drop',
  14: 'drop',
  15: 'drop',
}

/** Edits of a field that is a list of structures: those of each by its place. */
function eachOf(editsOf: (index: number) => Edits): (field: Field) => void {
  return ({ id, from, to }) => {
    const items: Uint8Array[] = []
    from.list(from.bytes.length, (index) => {
      const item = new ThriftWriter()
      copyStruct(from, item, editsOf(index))
      items.push(item.finish())
    })
    to.encodedStructs(id, items)
  }
}

/** Copies the fields of the structure that `from` is at. */
function copyStruct(from: ThriftReader, to: ThriftWriter, edits: Edits): void {
  from.struct((id) => {
    const edit = edits[id]
    if (edit === 'drop') return false
    if (edit === undefined) to.encoded(id, from.encodedValue())
    else edit({ id, from, to })
    return true
  })
}
