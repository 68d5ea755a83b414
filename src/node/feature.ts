// What a node may do without: the one interface of all optional features. app/features.ts lists them; nothing else of the node
// loads one.

import type { ChainSource } from './catalog/chain-source.ts'
import type { Deletion, NameRecord } from '../libraries/odf/chain/records.ts'
import type { Clock } from '../libraries/base/clock.ts'
import type { Logger } from '../libraries/base/logger.ts'
import type { Catalog } from './catalog/catalog.ts'
import type { Config } from './config.ts'
import type { Announcements } from './log/announcements.ts'
import type { Metrics } from './machine/ops/metrics.ts'
import type { WorkPool } from './machine/work/work-pool.ts'
import type { FileFacts } from '../libraries/columnar/outputs/file-format.ts'
import type { KnownFormat } from '../libraries/formats/registry.ts'
import type { Gateway } from './gateway/gateway.ts'
import type { OptionalRoutes } from './http/context.ts'
import type { Health } from './machine/ops/health.ts'
import type { NodeKey } from '../libraries/proof/sign.ts'
import type { DataPaths } from './store/layout.ts'
import type { ObjectStore } from './store/object-store.ts'
import type { OptionGroup } from './options.ts'
import type { Finding } from './upkeep/finding.ts'
import type { AddProblem } from './upkeep/report.ts'

export interface Feature {
  /** As `--without` names it, and `feature` of operations in texts/operations.json. */
  readonly name: string
  /** What a user has of it, for the documentation. */
  readonly about: string
  readonly options?: OptionGroup<unknown>
  /** Formats of ingest that it brings. */
  readonly formats?: readonly KnownFormat[]
  /** Formats of answers that it brings. */
  readonly outputs?: readonly FileFacts[]
  /** What `doctor` finds in what it keeps in the data directory, and in the store, where that is there and can be read. */
  readonly inspect?: (paths: DataPaths, store?: ObjectStore) => Promise<readonly Finding[]>
  /** What `fsck` checks of what it keeps in the store. */
  readonly check?: (store: ObjectStore, add: AddProblem) => Promise<void>
  /** Nothing of its code is loaded before. Absent where it is a format alone (libraries/formats/registry.ts). */
  readonly load?: () => Promise<FeatureCode>
}

/** Datasets that another node shows to this one, and when it was asked, by the monotonic clock. */
export interface ShownDatasets {
  readonly sinceMs: number
  readonly names: readonly NameRecord[]
}

/** What recomputes the entries of a dataset in the ledger of its node. `none`: it tells nothing, or not to this node. */
export type ToldSecrets =
  | { readonly kind: 'told'; readonly salt: unknown; readonly keys: unknown }
  | { readonly kind: 'none' | 'unanswered' }

/** A node elsewhere whose datasets are copied into the store of this one. */
export interface Origin {
  readonly url: string
  /** Where what is missing or damaged is fetched from. */
  readonly source: ChainSource
  /** Undefined where it has not said. */
  readonly shown: () => ShownDatasets | undefined
  readonly secretsOf: (name: NameRecord) => Promise<ToldSecrets>
  /** Says what its readiness takes. */
  tell(health: Health): void
}

export interface FeatureCode {
  /** Begins to copy datasets of another node, where the options name one. */
  readonly origin?: (shared: Shared) => Promise<Origin | undefined>
  readonly routes?: OptionalRoutes
  /** Keys that it signs with once it has started, by what it is with them; the start of the node tells them. */
  readonly keys?: () => Readonly<Record<string, string>>
  /** Begins what it does beside its routes, once the node listens. Closed as `opened` says. */
  readonly start?: (parts: FeatureParts) => Promise<void>
}

/** What the roles of a process share. */
export interface Shared {
  readonly config: Config
  readonly paths: DataPaths
  readonly clock: Clock
  readonly logger: Logger
  readonly store: ObjectStore
  readonly announcements: Announcements
  readonly catalog: Catalog
  readonly metrics: Metrics
  /** Threads for long bodies, large slices and large requests. */
  readonly work: WorkPool
  /** Bytes of rows that are in the log and in no block yet, as far as this process knows. */
  readonly openBytes: () => number
  /** What features do before a dataset is removed from the store. */
  readonly beforeRemoval: ((deletion: Deletion) => Promise<void>)[]
  /** Closes what was opened, in reverse order. */
  readonly opened: (() => Promise<void>)[]
}

/** What a feature does its work with. */
export interface FeatureParts extends Shared {
  /** Absent where the process has not this role. */
  readonly gateway: Gateway | undefined
  /** The node that is followed. */
  readonly origin: Origin | undefined
  readonly health: Health
  readonly nodeKey: NodeKey
  /** Of the program. */
  readonly version: string
}
