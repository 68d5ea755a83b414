// Arrow schemas of any writer: FlatBuffer tables → fields that say how values lie. What cannot be a column is refused by name.
// Source: Apache Arrow, format/Schema.fbs (https://github.com/apache/arrow/blob/main/format/Schema.fbs) and "Canonical
// extension types".

import { integerType } from '../arrow/columns.ts'
import { typeMembers } from '../arrow/ipc-schema.ts'
import { type DataType, timeUnits } from '../../model/schema.ts'
import type { FlatBufferReader, TableCursor } from '../../base/flatbuffer-reader.ts'
import { fewerColumns, tooManyColumns } from '../file-limits.ts'
import { type Extension, geometryType } from './geometry.ts'
import { located, damaged, shown, unsupported, UnsupportedArrow } from './faults.ts'
import { type ArrowField, type ArrowType, decimalForm, type DictionaryIndex, storageOf } from './types.ts'

/** Most levels of fields inside of fields. */
const maxDepth = 16
const maxPrecision = 38
/** Values of one width, which are not looked at. */
const plain: ArrowType = { kind: 'fixedBytes', width: 0, isUuid: false }
/** The columns that a node adds, which a file may have besides those of the dataset. */
const systemColumns = 4

// Members of the union Type that become columns of another type, or none.
const members = {
  null: 1,
  interval: 11,
  struct: 13,
  union: 14,
  fixedSizeBinary: 15,
  fixedSizeList: 16,
  map: 17,
  duration: 18,
  largeBinary: 19,
  largeUtf8: 20,
  largeList: 21,
  runEndEncoded: 22,
  binaryView: 23,
  utf8View: 24,
  listView: 25,
  largeListView: 26,
} as const

/**
 * The fields of a schema table; those that cannot be columns are, or hold, `refused` ones. Throws NodeError
 * `UnsupportedEncoding` for fields whose buffers cannot be counted, `RecordsDoNotFit` for more than `columns` of them and the
 * system columns; DecodeError where the table is damaged.
 */
export function readSchema(reader: FlatBufferReader, schema: TableCursor, columns: number): ArrowField[] {
  if (reader.i16Field(schema, 0) !== 0) unsupported('has big-endian data; write it on a little-endian machine')
  const at = reader.offset(schema, 1)
  const positions = at === 0 ? [] : reader.offsetVector(at)
  if (positions.length > columns + systemColumns) {
    throw tooManyColumns(columns, fewerColumns, `The body has ${positions.length} columns.`)
  }
  return positions.map((position) => {
    const table = reader.table(schema, position)
    const name = nameOf(reader, table)
    try {
      return new FieldTables(reader).field(table, 1)
    } catch (error) {
      throw located(error, { column: name })
    }
  })
}

function nameOf(reader: FlatBufferReader, table: TableCursor): string {
  const at = reader.offset(table, 0)
  return at === 0 ? '' : reader.string(at)
}

class FieldTables {
  readonly #reader: FlatBufferReader

  constructor(reader: FlatBufferReader) {
    this.#reader = reader
  }

  field(table: TableCursor, depth: number): ArrowField {
    if (depth > maxDepth) unsupported(`nests deeper than ${maxDepth} levels`)
    const reader = this.#reader
    const name = nameOf(reader, table)
    const stored = this.#type(table, depth)
    const extension = this.#extension(table)
    const type = extension === undefined ? stored : geometryType(name, extension, stored)
    const at = reader.offset(table, 4)
    return at === 0 ? { name, type } : { name, type, dictionary: this.#dictionary(reader.table(table, at)) }
  }

  #dictionary(table: TableCursor): DictionaryIndex {
    const reader = this.#reader
    const at = reader.offset(table, 1)
    const index = at === 0 ? integerType(32, true) : this.#integer(reader.table(table, at))
    if (reader.i16Field(table, 3) !== 0) unsupported('has a dictionary of an unknown kind')
    return { id: reader.u64Field(table, 0), index: index ?? damaged('has a dictionary without a type of indexes') }
  }

  #integer(table: TableCursor): DataType | undefined {
    return integerType(this.#reader.i32Field(table, 0), this.#reader.u8Field(table, 1) !== 0)
  }

  #type(field: TableCursor, depth: number): ArrowType {
    const reader = this.#reader
    const member = reader.u8Field(field, 2)
    const at = reader.offset(field, 3)
    if (member === 0 || at === 0) return damaged('has no type')
    const table = reader.table(field, at)
    return this.#flatType(field, table, member) ?? this.#nestedType(field, { table, member, depth })
  }

  #flatType(field: TableCursor, table: TableCursor, member: number): ArrowType | undefined {
    const reader = this.#reader
    switch (member) {
      case members.null:
        return { kind: 'null' }
      case typeMembers.bool:
        return { kind: 'bool' }
      case typeMembers.int:
        return fixed(this.#integer(table))
      case typeMembers.floatingPoint: {
        const precision = reader.i16Field(table, 0)
        if (precision === 0) return { kind: 'half' }
        return fixed(precision === 1 ? { kind: 'Float32' } : precision === 2 ? { kind: 'Float64' } : undefined)
      }
      case typeMembers.utf8:
      case members.largeUtf8:
        return { kind: 'bytes', isText: true, offsetBytes: member === typeMembers.utf8 ? 4 : 8 }
      case typeMembers.binary:
      case members.largeBinary:
        return { kind: 'bytes', isText: false, offsetBytes: member === typeMembers.binary ? 4 : 8 }
      case members.utf8View:
      case members.binaryView:
        return { kind: 'views', isText: member === members.utf8View }
      case members.fixedSizeBinary: {
        const width = reader.i32Field(table, 0)
        if (width < 0) return damaged('has values of a negative length')
        return { kind: 'fixedBytes', width, isUuid: width === 16 && this.#extension(field)?.name === 'arrow.uuid' }
      }
      case typeMembers.decimal:
        return this.#decimal(table)
      default:
        return this.#timeType(table, member)
    }
  }

  #decimal(table: TableCursor): ArrowType {
    const reader = this.#reader
    const [precision, scale] = [reader.i32Field(table, 0), reader.i32Field(table, 1)]
    const width = reader.i32Field(table, 2, 128) / 8
    if (width !== 4 && width !== 8 && width !== 16 && width !== 32) return damaged('has decimals of an unknown width')
    if (precision < 1 || precision > 76 || Math.abs(scale) > 1000) return damaged('has decimals without digits')
    const type: ArrowType = { kind: 'decimal', width, precision, scale }
    if (decimalForm({ precision, scale }).precision <= maxPrecision) return type
    const reason = `has decimals of ${precision} digits and scale ${scale}; a column holds ${maxPrecision} digits at most`
    return refused(type, reason)
  }

  #timeType(table: TableCursor, member: number): ArrowType | undefined {
    const reader = this.#reader
    switch (member) {
      case typeMembers.date: {
        const unit = reader.i16Field(table, 0, 1)
        return unit === 1 ? { kind: 'date64' } : fixed(unit === 0 ? { kind: 'Date' } : undefined)
      }
      case typeMembers.time: {
        const index = reader.i16Field(table, 0, 1)
        const unit = timeUnits[index]
        if (reader.i32Field(table, 1, 32) !== (index < 2 ? 32 : 64)) return damaged('has times of an unknown width')
        return fixed(unit === undefined ? undefined : { kind: 'Time', unit })
      }
      case typeMembers.timestamp: {
        const unit = timeUnits[reader.i16Field(table, 0)]
        const zoneAt = reader.offset(table, 1)
        // Whatever the zone is called, the values are instants.
        const hasZone = zoneAt !== 0 && reader.string(zoneAt) !== ''
        if (unit === undefined) return fixed(undefined)
        return fixed(hasZone ? { kind: 'Timestamp', unit, timezone: 'UTC' } : { kind: 'Timestamp', unit })
      }
      case members.duration:
        return refused(plain, 'holds durations, which no dataset has; cast them to integers')
      case members.interval:
        return refused(plain, 'holds intervals, which no dataset has; cast them to text')
      default:
        return undefined
    }
  }

  #nestedType(field: TableCursor, { table, member, depth }: NestedTable): ArrowType {
    const reader = this.#reader
    const childrenAt = reader.offset(field, 5)
    const children = (childrenAt === 0 ? [] : reader.offsetVector(childrenAt)).map((position) =>
      this.field(reader.table(field, position), depth + 1),
    )
    if (member === members.struct) return structOf(children)
    if (member === members.union) {
      const mode = reader.i16Field(table, 0)
      if (mode !== 0 && mode !== 1) return damaged('is a union of an unknown mode')
      const union = { kind: 'union', isDense: mode === 1, fields: children } as const
      return refused(union, 'is a union, which no dataset has; split it into columns')
    }
    const [item, other] = children
    if (member === members.runEndEncoded) {
      if (item === undefined || other === undefined || children.length !== 2)
        return damaged('has no ends of runs and values')
      return { kind: 'runs', ends: checkedEnds(item), values: other }
    }
    if (item === undefined || children.length !== 1) {
      return listNames.has(member)
        ? damaged('is a list without an item')
        : unsupported(`has an unknown type (${member}), whose buffers cannot be counted`)
    }
    switch (member) {
      case typeMembers.list:
      case members.largeList:
        return { kind: 'list', offsetBytes: member === typeMembers.list ? 4 : 8, areViews: false, item }
      case members.listView:
      case members.largeListView:
        return { kind: 'list', offsetBytes: member === members.listView ? 4 : 8, areViews: true, item }
      case members.map:
        return { kind: 'list', offsetBytes: 4, areViews: false, item: entryOf(item) }
      case members.fixedSizeList: {
        const length = reader.i32Field(table, 0)
        return length < 0 ? damaged('has lists of a negative length') : { kind: 'fixedList', length, item }
      }
      default:
        return unsupported(`has an unknown type (${member}), whose buffers cannot be counted`)
    }
  }

  /** The extension type, where the field has one. */
  #extension(field: TableCursor): Extension | undefined {
    const reader = this.#reader
    const at = reader.offset(field, 6)
    const found = new Map<string, string>()
    for (const position of at === 0 ? [] : reader.offsetVector(at)) {
      const pair = reader.table(field, position)
      const [keyAt, valueAt] = [reader.offset(pair, 0), reader.offset(pair, 1)]
      const key = keyAt === 0 ? '' : reader.string(keyAt)
      // Other values may be any bytes, and so may the metadata of other extensions.
      if (valueAt !== 0 && key.startsWith('ARROW:extension:')) found.set(key, latin1(reader.byteVector(valueAt)))
    }
    const name = found.get('ARROW:extension:name')
    return name === undefined ? undefined : { name, metadata: found.get('ARROW:extension:metadata') ?? '' }
  }
}

/** Bytes that become characters in one call. */
const pieceBytes = 4096

/** The bytes as text that every byte has; names and JSON that are looked at are ASCII where it matters. */
function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += pieceBytes)
    text += String.fromCharCode(...bytes.subarray(at, at + pieceBytes))
  return text
}

interface NestedTable {
  readonly table: TableCursor
  readonly member: number
  readonly depth: number
}

const listNames: ReadonlySet<number> = new Set([
  typeMembers.list,
  members.largeList,
  members.listView,
  members.largeListView,
  members.map,
  members.fixedSizeList,
])

function refused(storage: Extract<ArrowType, { kind: 'refused' }>['storage'], reason: string): ArrowType {
  return { kind: 'refused', error: new UnsupportedArrow(reason), storage }
}

function fixed(column: DataType | undefined): ArrowType {
  return column === undefined ? damaged('has a type of unknown width or unit') : { kind: 'fixed', column }
}

/** Refuses names that could not be told apart in JSON text. */
function structOf(fields: readonly ArrowField[]): ArrowType {
  const names = new Set<string>()
  for (const { name } of fields) {
    if (names.has(name)) return refused({ kind: 'struct', fields }, `holds structs with two fields ${shown(name)}`)
    names.add(name)
  }
  return { kind: 'struct', fields }
}

/** The entries of a map, whatever its writer called them. */
function entryOf(entries: ArrowField): ArrowField {
  const { type } = entries
  const stored = storageOf(type)
  const [key, value] = stored.kind === 'struct' ? stored.fields : []
  if (key === undefined || value === undefined) return damaged('is a map without keys and values')
  return {
    ...entries,
    type: {
      kind: 'struct',
      fields: [
        { ...key, name: 'key' },
        { ...value, name: 'value' },
      ],
    },
  }
}

function checkedEnds(ends: ArrowField): ArrowField {
  const kind = ends.type.kind === 'fixed' ? ends.type.column.kind : ''
  const isRight = ends.dictionary === undefined && (kind === 'Int16' || kind === 'Int32' || kind === 'Int64')
  return isRight ? ends : damaged('has ends of runs that are no integers of 16, 32 or 64 bits')
}
