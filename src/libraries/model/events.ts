// The metadata events of Open Data Fabric and the block that carries one. Pure values; bytes are libraries/odf.
// Source: Open Data Fabric specification, Metadata Reference. Field names as in the ODF schema, camelCase.

import type { DatasetId, Hash } from '../base/ids/identifiers.ts'
import type { DataSchema } from './schema.ts'

/** RFC 3339 UTC with up to 9 fractional digits, trailing zeros removed (`2025-01-01T00:00:00Z`). */
export type Instant = string

/** A `u64` field. Values above 2^53-1 are carried as bigint. */
export type U64 = number | bigint

export interface OffsetInterval {
  readonly start: U64
  readonly end: U64
}

export interface DataSlice {
  readonly logicalHash: Hash
  readonly physicalHash: Hash
  readonly offsetInterval: OffsetInterval
  readonly size: U64
}

export interface Checkpoint {
  readonly physicalHash: Hash
  readonly size: U64
}

export interface SourceState {
  readonly sourceName: string
  readonly kind: string
  readonly value: string
}

export interface AddData {
  readonly kind: 'AddData'
  readonly prevCheckpoint?: Hash
  readonly prevOffset?: U64
  readonly newData?: DataSlice
  readonly newCheckpoint?: Checkpoint
  readonly newWatermark?: Instant
  readonly newSourceState?: SourceState
  readonly extra?: Readonly<Record<string, unknown>>
}

export interface Seed {
  readonly kind: 'Seed'
  readonly datasetId: DatasetId
  readonly datasetKind: 'Root' | 'Derivative'
}

export interface SetDataSchema {
  readonly kind: 'SetDataSchema'
  /** Deprecated form: Arrow IPC schema bytes as hex. */
  readonly rawArrowSchema?: string
  readonly schema?: DataSchema
}

export interface SetVocab {
  readonly kind: 'SetVocab'
  readonly offsetColumn?: string
  readonly operationTypeColumn?: string
  readonly systemTimeColumn?: string
  readonly eventTimeColumn?: string
}

export interface SetInfo {
  readonly kind: 'SetInfo'
  readonly description?: string
  readonly keywords?: readonly string[]
}

export interface SetLicense {
  readonly kind: 'SetLicense'
  readonly shortName: string
  readonly name: string
  readonly spdxId?: string
  readonly websiteUrl: string
}

export interface SetAttachments {
  readonly kind: 'SetAttachments'
  readonly attachments: {
    readonly kind: 'Embedded'
    readonly items: readonly { readonly path: string; readonly content: string }[]
  }
}

/** A read step; `kind` is the union member (`NdJson`, `Csv`, …), other members as in the ODF schema. */
export interface ReadStep {
  readonly kind: string
  readonly schema?: DataSchema
  readonly [member: string]: unknown
}

/** A query in steps. Stored ones are normalised: no `query`, and only the last step lacks an alias. */
export interface Transform {
  readonly kind: 'Sql'
  readonly engine: string
  readonly version?: string
  readonly query?: string
  readonly queries?: readonly { readonly alias?: string; readonly query: string }[]
  readonly temporalTables?: readonly { readonly name: string; readonly primaryKey: readonly string[] }[]
}

export interface AddPushSource {
  readonly kind: 'AddPushSource'
  readonly sourceName: string
  readonly read: ReadStep
  readonly preprocess?: Transform
  readonly merge: {
    readonly kind: string
    readonly primaryKey?: readonly string[]
    readonly compareColumns?: readonly string[]
  }
}

/** What a derivative dataset has in place of AddData. Read, never written. */
export interface ExecuteTransform {
  readonly kind: 'ExecuteTransform'
  readonly queryInputs: readonly {
    readonly datasetId: DatasetId
    readonly prevBlockHash?: Hash
    readonly newBlockHash?: Hash
    readonly prevOffset?: U64
    readonly newOffset?: U64
  }[]
  readonly prevCheckpoint?: Hash
  readonly prevOffset?: U64
  readonly newData?: DataSlice
  readonly newCheckpoint?: Checkpoint
  readonly newWatermark?: Instant
}

export interface DisablePushSource {
  readonly kind: 'DisablePushSource'
  readonly sourceName: string
}

/** Events that Proofstream reads but never writes; members as in the ODF schema. */
export interface ForeignEvent {
  readonly kind: 'SetPollingSource' | 'SetTransform' | 'DisablePollingSource'
  readonly preprocess?: Transform
  readonly transform?: Transform
  readonly [member: string]: unknown
}

export type MetadataEvent =
  | AddData
  | Seed
  | SetDataSchema
  | SetVocab
  | SetInfo
  | SetLicense
  | SetAttachments
  | AddPushSource
  | ExecuteTransform
  | DisablePushSource
  | ForeignEvent

/** The event, if it is of those that bring rows: AddData of root datasets, ExecuteTransform of derivative ones. */
export function dataOf(event: MetadataEvent): AddData | ExecuteTransform | undefined {
  return event.kind === 'AddData' || event.kind === 'ExecuteTransform' ? event : undefined
}

export interface MetadataBlock {
  readonly systemTime: Instant
  /** Absent on block 0 only. */
  readonly prevBlockHash?: Hash
  readonly sequenceNumber: U64
  readonly event: MetadataEvent
}
