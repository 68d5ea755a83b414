// The small records beside blocks, slices and checkpoints, and where in the log a chain has read to: what each holds, and
// its one spelling, canonical JSON. None holds anything of the process that wrote it.

import { type DatasetId, type Hash, datasetIdPattern, hashPattern } from '../../base/ids/identifiers.ts'
import { canonicalText } from '../../base/json/canonical.ts'
import { fromPlain, parseJson } from '../../base/json/json.ts'
import {
  checked,
  list,
  natural,
  object,
  oneOf,
  optional,
  readShape,
  type RecordCodec,
  recordCodec,
  text,
} from '../../base/json/shape.ts'
import { DecodeError } from '../../base/errors.ts'
import type { SourceState } from '../../model/events.ts'
import { isName } from '../../model/names.ts'

const datasetId = text(datasetIdPattern)
const hash = text(hashPattern)

export type Visibility = 'public' | 'private'

/** How bodies are read whose requests do not say otherwise: parameters of ingest by their names. */
export interface IngestRules {
  readonly eventTime?: string
  readonly eventTimeUnit?: 's' | 'ms' | 'us' | 'ns'
  readonly records?: string
  readonly flatten?: true
  readonly dedupe?: string
  readonly timeZone?: string
  readonly ambiguous?: 'refuse' | 'earlier' | 'later' | 'ordered'
  /** How cells are spelt: the name of a parameter and its texts, sorted by name. */
  readonly cells?: readonly (readonly string[])[]
}

/**
 * `names/<account>/<dataset>` (lower case): who owns a name, which log and partition its rows go to, and how it is to be
 * built and laid out.
 */
export interface NameRecord {
  readonly id: DatasetId
  /** `account/dataset` as first written. */
  readonly alias: string
  readonly log: string
  readonly partition: number
  readonly visibility: Visibility
  /** Age at which a row of a steady stream is in a block; absent: the builder's own pace. */
  readonly freshnessMs?: number
  readonly ingest?: IngestRules
  /** Its blocks are entries of the ledger; absent: those of a public dataset are. */
  readonly ledger?: boolean
  /** Each row can be shown alone, beside batches. */
  readonly proofs?: 'rows'
  /** The alias at birth, where that is another: its hash is the partition. */
  readonly born?: string
  /** The alias before the last rename. As long as that is not noted there, both lead to the dataset. */
  readonly from?: string
  /** Sequence of the block that changed it last; absent as long as it is as the creation made it. */
  readonly changed?: number
}

/** True where blocks of a dataset are entries of the ledger. */
export function isEntered({ ledger, visibility }: Pick<NameRecord, 'ledger' | 'visibility'>): boolean {
  return ledger ?? visibility === 'public'
}

const time = text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

const ingestShape = checked(
  object({
    eventTime: optional(text()),
    eventTimeUnit: optional(oneOf('s', 'ms', 'us', 'ns')),
    records: optional(text()),
    flatten: optional(oneOf(true)),
    dedupe: optional(text()),
    timeZone: optional(text()),
    ambiguous: optional(oneOf('refuse', 'earlier', 'later', 'ordered')),
    cells: optional(list(list(text(), { least: 2 }), { least: 1 })),
  }),
  (rules) => (Object.keys(rules).length === 0 ? 'has no rule' : undefined),
)

const nameShape = object({
  id: datasetId,
  alias: checked(text(), (alias) => {
    const parts = alias.split('/')
    return parts.length === 2 && parts.every(isName) ? undefined : 'is not account/dataset'
  }),
  log: text(),
  partition: natural,
  visibility: oneOf('public', 'private'),
  freshnessMs: optional(natural),
  ingest: optional(ingestShape),
  ledger: optional(oneOf(true, false)),
  proofs: optional(oneOf('rows')),
  born: optional(text()),
  from: optional(text()),
  changed: optional(natural),
})

export const nameCodec: RecordCodec<NameRecord> = recordCodec('name record', nameShape)

/** `aliases/<account>/<dataset>/<generation>`: what became of a name; the highest generation holds. */
export interface AliasRecord {
  /** `moved`, `deleted`: the name is free, and was `name` of a dataset. */
  readonly state: 'is' | 'moved' | 'deleted'
  readonly name: NameRecord
  /** The alias that its dataset took instead: of `moved`, and of that alone. */
  readonly to?: string
  /** Of the message that freed the name: a creation that was logged before it does not take it. */
  readonly freedAt?: LogPlace
}

/** A message of a log. */
export interface LogPlace {
  readonly log: string
  readonly partition: number
  readonly position: number
}

export const aliasCodec: RecordCodec<AliasRecord> = recordCodec(
  'alias record',
  checked(
    object({
      state: oneOf('is', 'moved', 'deleted'),
      name: nameShape,
      to: optional(text()),
      freedAt: optional(object({ log: text(), partition: natural, position: natural })),
    }),
    ({ state, to }) => ((state === 'moved') === (to !== undefined) ? undefined : 'to belongs to moved, and only there'),
  ),
)

/** `deletions/<id>/<sequence of the block that says it>`: the highest sequence holds. */
export type DeletionRecord =
  | {
      readonly state: 'deleted'
      /** The name that it had. */
      readonly name: NameRecord
      /** RFC 3339, UTC. */
      readonly at: string
      /** Before this it can be restored; after it, it is removed. */
      readonly until: string
    }
  | { readonly state: 'restored'; readonly alias: string }

export type Deletion = Extract<DeletionRecord, { state: 'deleted' }>

const deletion = object({ state: oneOf('deleted'), name: nameShape, at: time, until: time })
const restoration = object({ state: oneOf('restored'), alias: text() })

export const deletionCodec: RecordCodec<DeletionRecord> = recordCodec('deletion record', (value) =>
  value instanceof Map && value.get('state') === 'restored' ? restoration(value) : deletion(value),
)

/** `datasets/<id>/commits/<sequence of the first new block>`: the linearisation point of a commit. */
export interface CommitRecord {
  /** New blocks in chain order; the last one is the head. */
  readonly blocks: readonly Hash[]
  readonly log: string
  readonly partition: number
  /** Log position after the last message that these blocks consumed. */
  readonly next: number
}

export const commitCodec: RecordCodec<CommitRecord> = recordCodec(
  'commit record',
  object({ blocks: list(hash, { least: 1 }), log: text(), partition: natural, next: natural }),
)

/** `datasets/<id>/packs/<level>/<number>`: the pack of the commits of a range of first sequences. */
export interface PackRecord {
  /** Of the whole file. */
  readonly hash: Hash
  readonly sizeBytes: number
}

export const packCodec: RecordCodec<PackRecord> = recordCodec('pack record', object({ hash, sizeBytes: natural }))

/** A dataset that a builder has stopped. */
export interface HaltedDataset {
  readonly dataset: DatasetId
  /** Its first message that is in no block. */
  readonly position: number
  readonly reason: string
  /** The message that is at fault, where one is: an operator may reject it. */
  readonly message?: number
}

const halted = list(object({ dataset: datasetId, position: natural, reason: text(), message: optional(natural) }))

/** `progress/<log>/<partition>/<position>`: everything below `position` is committed, of every dataset but the halted. */
export interface LowWaterMark {
  readonly log: string
  readonly partition: number
  readonly position: number
  /** sha3-256 multihash of the message at position - 1; absent at position 0. */
  readonly anchor?: Hash
  readonly halted: readonly HaltedDataset[]
}

export const lowWaterMarkCodec: RecordCodec<LowWaterMark> = recordCodec(
  'floor record',
  checked(
    object({ log: text(), partition: natural, position: natural, anchor: optional(hash), halted }),
    ({ position, anchor }) =>
      (position === 0) === (anchor === undefined) ? undefined : 'anchor is absent at position 0, and only there',
  ),
)

/**
 * `rejects/<log>/<partition>/<position>`: an operator's word that the message there is in no block. Without a dataset it
 * is of a message that cannot be read.
 */
export interface RejectRecord {
  readonly dataset?: DatasetId
  readonly reason: string
  /** The operator. */
  readonly by: string
  /** RFC 3339, UTC. */
  readonly at: string
}

export const rejectCodec: RecordCodec<RejectRecord> = recordCodec(
  'rejection of an operator',
  object({
    dataset: optional(datasetId),
    reason: text(),
    by: text(),
    at: time,
  }),
)

/**
 * `adoptions/<old log>`: the old log is given up, its datasets go on in the new one. One per old log; an adopted log may
 * be given up in turn. `partitions` are those of the old log, `begin` has a position for each of the new one.
 */
export interface AdoptionRecord {
  readonly old: string
  readonly new: string
  readonly partitions: readonly {
    /** Everything below is committed, of every dataset but the halted. */
    readonly floor: number
    /** Position after the last message; absent when the end is not known. Messages between floor and end are given up. */
    readonly end?: number
  }[]
  /** Datasets whose messages from `position` on are given up. */
  readonly halted: readonly HaltedDataset[]
  /** Messages of the old log's datasets are at these positions or above. */
  readonly begin: readonly number[]
}

export const adoptionCodec: RecordCodec<AdoptionRecord> = recordCodec(
  'adoption record',
  checked(
    object({
      old: text(),
      new: text(),
      partitions: list(object({ floor: natural, end: optional(natural) }), { least: 1 }),
      halted,
      begin: list(natural, { least: 1 }),
    }),
    (record) => (record.old === record.new ? 'a log takes over from itself' : undefined),
  ),
)

/** `logs/<log id>`: put by the first process; all use its partition count. `storeFormat` is added later. */
export interface LogRecord {
  readonly id: string
  readonly kind: string
  readonly partitions: number
  /** Absent in a store in which everything of a chain lies loose, whatever else holds it. */
  readonly storeFormat?: number
}

/** Of what packs hold, loose copies may be missing. */
export const sweptFormat = 2

/**
 * The log of names and commits of datasets that are followed from another node: there is none here, and `next` of such a
 * commit counts the blocks of its chain.
 */
export const originLog = 'origin'

export const logCodec: RecordCodec<LogRecord> = recordCodec(
  'log record',
  object({
    id: text(),
    kind: oneOf('file', 'kafka', 'memory', 'origin'),
    partitions: checked(natural, (count) => (count === 0 ? 'is 0' : undefined)),
    storeFormat: optional(
      checked(natural, (format) =>
        format === sweptFormat ? undefined : `is ${format}: the store needs a newer Proofstream`,
      ),
    ),
  }),
)

/** A log that a chain has left, as its first block in the next log says. */
export interface LeftLog {
  readonly log: string
  readonly partition: number
  /** Messages of that partition that the chain has not read; without `to` the log's end is not known. Absent: none. */
  readonly givenUp?: { readonly from: number; readonly to?: number }
}

/** Kind of the source state that each data block carries. */
export const logPositionKind = 'proofstream.dev/log-position'

/** Where in the log a chain has read to: the value of the source state. A chain is tied to its log by this alone. */
export interface LogPosition {
  readonly log: string
  readonly partition: number
  /** Position after the last message that the chain consumed. */
  readonly next: number
  /** sha3-256 multihash of the message at `next - 1`. */
  readonly anchor: Hash
  /** The logs that were given up since the block before, oldest first; absent in a block of the same log. */
  readonly adopted?: readonly LeftLog[]
}

const logPosition = object({
  anchor: text(),
  log: text(),
  next: natural,
  partition: natural,
  adopted: optional(
    list(
      object({
        log: text(),
        partition: natural,
        givenUp: optional(object({ from: natural, to: optional(natural) })),
      }),
      { least: 1 },
    ),
  ),
})

/** The `value` of the source state. */
export function logPositionText(position: LogPosition): string {
  return canonicalText(fromPlain(position))
}

/** What a source state says about the log; undefined when it is of another kind. Throws `DecodeError`. */
export function logPositionOf(state: SourceState | undefined): LogPosition | undefined {
  if (state?.kind !== logPositionKind) return undefined
  const position = readShape('log position', logPosition, parseJson(state.value))
  if (logPositionText(position) === state.value) return position
  throw new DecodeError('log position', 'is not in the canonical form')
}
