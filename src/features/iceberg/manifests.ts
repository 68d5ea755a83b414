// Manifests and lists of them. A snapshot reads the slices up to its own: manifests of 1,000 each, which are the same for all
// later snapshots, one of those behind them, and one with its own slice alone, which it added. What lies in the others counts
// as existing, so that readers of what was appended between two snapshots find each slice once. In place of many small
// slices there may be the merged file of them, in a manifest of its own.
// Source: https://iceberg.apache.org/spec/ (Manifests, Manifest Lists).

import { AvroWriter, avroFile } from './avro.ts'
import { dataFileSchema, writeDataFile } from './data-files.ts'
import type { IcebergSchema } from './table-schema.ts'

/** Slices of a manifest that is full. */
export const manifestSlices = 1_000

/** Slices `[from, to)` in one manifest: told as added by the snapshot of the only one of them, or as existing. */
export interface ManifestRun {
  readonly from: number
  readonly to: number
  readonly isAdded: boolean
}

/** The manifests of the snapshot of slice `last`, where all slices are files. */
export function manifestRuns(last: number): ManifestRun[] {
  return [...existingRuns(0, last), { from: last, to: last + 1, isAdded: true }]
}

/** Slices `[from, to)` in manifests, none across a multiple of 1,000. */
export function existingRuns(from: number, to: number): ManifestRun[] {
  const runs: ManifestRun[] = []
  for (let at = from; at < to; at = runs.at(-1)?.to ?? to) {
    const end = (Math.floor(at / manifestSlices) + 1) * manifestSlices
    runs.push({ from: at, to: Math.min(end, to), isAdded: false })
  }
  return runs
}

/** The name of a manifest. */
export function manifestName({ from, to, isAdded }: ManifestRun): string {
  return isAdded ? `added-${from}.avro` : `slices-${from}-${to}.avro`
}

/** The name of the merged file of slices `[from, to)` with this SHA-256, and of its manifest, without their endings. */
export function mergedName({ from, to, hash }: Omit<ManifestRun, 'isAdded'> & { readonly hash: string }): string {
  return `merged-${from}-${to}-${hash}`
}

/** One file: the sequence of its last block, which is a snapshot's id too, its place, and what is known of it. */
interface ManifestEntry {
  readonly sequence: number
  readonly uri: string
  readonly facts: Uint8Array
}

const status = { existing: 0, added: 1 } as const
const isThere = 1

const entrySchema = {
  type: 'record',
  name: 'manifest_entry',
  fields: [
    { name: 'status', type: 'int', 'field-id': 0 },
    { name: 'snapshot_id', type: ['null', 'long'], default: null, 'field-id': 1 },
    { name: 'sequence_number', type: ['null', 'long'], default: null, 'field-id': 3 },
    { name: 'file_sequence_number', type: ['null', 'long'], default: null, 'field-id': 4 },
    { name: 'data_file', type: dataFileSchema, 'field-id': 2 },
  ],
} as const

/** The manifest of slices; `schema` is that of the last of them. */
export function manifestFile(
  schema: IcebergSchema,
  { isAdded }: Pick<ManifestRun, 'isAdded'>,
  entries: readonly ManifestEntry[],
): Uint8Array {
  const metadata = {
    schema: JSON.stringify(schema),
    'schema-id': String(schema['schema-id']),
    'partition-spec': '[]',
    'partition-spec-id': '0',
    'format-version': '2',
    content: 'data',
  }
  const records = entries.map(({ sequence, uri, facts }) => {
    const record = new AvroWriter().long(isAdded ? status.added : status.existing)
    for (let field = 0; field < 3; field++) record.long(isThere).long(sequence)
    return writeDataFile(record, uri, facts).finish()
  })
  return avroFile(entrySchema, metadata, records)
}

/** What a list says of a manifest: sequences are the least and the greatest of its entries. */
export interface ListedManifest extends Pick<ManifestRun, 'isAdded'> {
  readonly uri: string
  readonly files: number
  readonly sizeBytes: number
  readonly firstSequence: number
  readonly lastSequence: number
  readonly rows: number
}

const listSchema = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    { name: 'manifest_path', type: 'string', 'field-id': 500 },
    { name: 'manifest_length', type: 'long', 'field-id': 501 },
    { name: 'partition_spec_id', type: 'int', 'field-id': 502 },
    { name: 'content', type: 'int', 'field-id': 517 },
    { name: 'sequence_number', type: 'long', 'field-id': 515 },
    { name: 'min_sequence_number', type: 'long', 'field-id': 516 },
    { name: 'added_snapshot_id', type: 'long', 'field-id': 503 },
    { name: 'added_files_count', type: 'int', 'field-id': 504 },
    { name: 'existing_files_count', type: 'int', 'field-id': 505 },
    { name: 'deleted_files_count', type: 'int', 'field-id': 506 },
    { name: 'added_rows_count', type: 'long', 'field-id': 512 },
    { name: 'existing_rows_count', type: 'long', 'field-id': 513 },
    { name: 'deleted_rows_count', type: 'long', 'field-id': 514 },
  ],
} as const

/** The list of a snapshot's manifests; `parent` is the snapshot before it, if there is one. */
export function manifestList(
  { sequence, parent }: { readonly sequence: number; readonly parent: number | undefined },
  manifests: readonly ListedManifest[],
): Uint8Array {
  const metadata = {
    'snapshot-id': String(sequence),
    'parent-snapshot-id': String(parent ?? 'null'),
    'sequence-number': String(sequence),
    'format-version': '2',
  }
  const records = manifests.map(({ uri, sizeBytes, isAdded, files, rows, firstSequence, lastSequence }) => {
    const [added, existing] = isAdded ? [files, 0] : [0, files]
    const [addedRows, existingRows] = isAdded ? [rows, 0] : [0, rows]
    const record = new AvroWriter().text(uri).long(sizeBytes).long(0).long(0)
    record.long(lastSequence).long(firstSequence).long(lastSequence)
    return record.long(added).long(existing).long(0).long(addedRows).long(existingRows).long(0).finish()
  })
  return avroFile(listSchema, metadata, records)
}
