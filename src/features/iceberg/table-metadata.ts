// The metadata of a table: a dataset at one of its blocks, with the last 100 blocks that brought rows as its snapshots. All of
// it follows from the chain, so that every node says the same.
// Source: https://iceberg.apache.org/spec/ (Table Metadata).

import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { toHex, utf8 } from '../../libraries/base/bytes.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import type { TableSchemas } from './table-schema.ts'

/** Snapshots that a table names; older ones are found as tables of earlier blocks. */
export const snapshotsMost = 100
/** Readers take ids of partition fields from 1000 on. */
const lastPartitionId = 999

/** A block that brought rows. Totals are up to and including it. */
export interface TableSnapshot {
  readonly sequence: number
  readonly timeMs: number
  readonly blockHash: string
  /** Of the block that brought rows before it. */
  readonly parent: number | undefined
  readonly schemaId: number
  readonly files: number
  readonly rows: number
  readonly addedRows: number
  /** Whether merged files are listed in place of slices: how many there are then is for the node that is asked. */
  readonly isMerged: boolean
}

/** A dataset at a block. */
export interface TableState {
  readonly id: DatasetId
  /** URI under which its files lie, without a slash at the end. */
  readonly location: string
  readonly timeMs: number
  readonly blockHash: string
  readonly description: string | undefined
  readonly schemas: TableSchemas
  /** The last of them, oldest first. */
  readonly snapshots: readonly TableSnapshot[]
}

/** The name of the list of a snapshot's manifests. */
export function listName({ sequence, isMerged }: Pick<TableSnapshot, 'sequence' | 'isMerged'>): string {
  return isMerged ? `snap-${sequence}-merged.avro` : `snap-${sequence}.avro`
}

/** The name of the metadata as of a block. */
export function metadataName({ sequence }: Pick<TableSnapshot, 'sequence'>): string {
  return `v${sequence}.metadata.json`
}

export function tableMetadata(table: TableState): object {
  const { id, location, timeMs, schemas, snapshots } = table
  const current = snapshots.at(-1)
  const main = current && { main: { 'snapshot-id': current.sequence, type: 'branch' } }
  return {
    'format-version': 2,
    'table-uuid': uuidOf(id),
    location,
    'last-sequence-number': current?.sequence ?? 0,
    'last-updated-ms': timeMs,
    'last-column-id': schemas.lastColumnId,
    schemas: schemas.schemas,
    'current-schema-id': schemas.schemas.length - 1,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'default-spec-id': 0,
    'last-partition-id': lastPartitionId,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    'default-sort-order-id': 0,
    properties: propertiesOf(table),
    'current-snapshot-id': current?.sequence ?? -1,
    refs: { ...main },
    snapshots: snapshots.map((snapshot) => snapshotJson(location, snapshot)),
    'snapshot-log': snapshots.map(({ sequence, timeMs: at }) => ({ 'snapshot-id': sequence, 'timestamp-ms': at })),
    'metadata-log': [],
  }
}

function snapshotJson(location: string, snapshot: TableSnapshot): object {
  const { sequence, parent, timeMs, schemaId, blockHash, files, rows, addedRows, isMerged } = snapshot
  return {
    'snapshot-id': sequence,
    ...(parent !== undefined && { 'parent-snapshot-id': parent }),
    'sequence-number': sequence,
    'timestamp-ms': timeMs,
    'manifest-list': `${location}/metadata/${listName(snapshot)}`,
    'schema-id': schemaId,
    summary: {
      operation: 'append',
      'added-data-files': '1',
      'added-records': String(addedRows),
      ...(!isMerged && { 'total-data-files': String(files) }),
      'total-records': String(rows),
      'total-delete-files': '0',
      'total-position-deletes': '0',
      'total-equality-deletes': '0',
      'odf.block-hash': blockHash,
    },
  }
}

function propertiesOf({ id, blockHash, description, schemas }: TableState): Readonly<Record<string, string>> {
  const ledger =
    'The ledger of the dataset: rows are only ever added, and the column of operations says of each whether it appends' +
    ' (0), retracts (1), or corrects from (2) and to (3).'
  return {
    comment: description === undefined ? ledger : `${description}\n\n${ledger}`,
    'odf.dataset-id': id,
    'odf.block-hash': blockHash,
    'schema.name-mapping.default': JSON.stringify(schemas.nameMapping),
    // Spark's other reader takes times in milliseconds for microseconds (https://github.com/apache/iceberg/issues/17135).
    'read.parquet.vectorization.enabled': 'false',
    ...(schemas.notes.length > 0 && { 'odf.column-notes': schemas.notes.join('; ') }),
  }
}

/** Made of the DID (RFC 9562, version 8). */
function uuidOf(id: DatasetId): string {
  const bytes = sha256(utf8(id)).slice(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
