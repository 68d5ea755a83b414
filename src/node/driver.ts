// What a log or a store must be that is no directory of this machine: the interfaces of all drivers. app/drivers.ts lists them;
// nothing else of the node loads one.

import type { Logger } from '../libraries/base/logger.ts'
import type { AgingLog } from './gateway/log-watch.ts'
import type { Announcements } from './log/announcements.ts'
import type { EventLog } from './log/event-log.ts'
import type { PartitionAssignment } from './log/partitions.ts'
import type { UrlOptions } from './options.ts'
import type { ObjectStore } from './store/object-store.ts'
import type { Finding } from './upkeep/finding.ts'

export interface LogDriver {
  readonly options: UrlOptions<unknown>
  readonly load: () => Promise<LogDriverCode<unknown>>
}

export interface StoreDriver {
  readonly options: UrlOptions<StorePlace>
  readonly load: () => Promise<StoreDriverCode<StorePlace>>
}

/** What a process does with what it opens, and how that ends. */
export interface Opening {
  readonly logger: Logger
  /** Called once when what was opened takes no more: the process should stop. */
  readonly onFailure: (error: unknown) => void
  /** What closes what was opened, in the order of opening. */
  readonly opened: (() => Promise<void>)[]
}

export interface LogFacts {
  /** Copies of each message, for a log in Kafka. */
  readonly replicas?: number
  /** What *logged* does not survive, when that is more than usual. */
  readonly caution?: string
}

/** The log of a process, with what belongs to it. */
export interface OpenedLog {
  /** Absent for a replica alone. */
  readonly log: EventLog | undefined
  /** The same, where it deletes what is old. */
  readonly aging: AgingLog | undefined
  readonly announcements: Announcements
  /** Assigns the partitions to the builders of `group`; absent where one process builds all. */
  readonly assignment: ((group: string) => PartitionAssignment) | undefined
  /** What `/info` says about the log besides its kind. */
  readonly facts: LogFacts
  /** Why the log takes nothing, or undefined. */
  readonly fault: () => Promise<string | undefined>
}

/** `T` is what its options came to. */
export interface LogDriverCode<T> {
  /** Opens announcements and, but for a reader, the log. */
  open(options: T, isReader: boolean, opening: Opening): Promise<OpenedLog>
  /** The log alone, which is made where it is missing. */
  openLog(options: T, logger: Logger): Promise<EventLog>
  streams(options: T, logger: Logger): Promise<Streams>
  /** What `doctor` finds. */
  inspect(options: T): Promise<readonly Finding[]>
}

/** What an operator may do with the topics of an installation; both resolve with the topics as they are then. */
export interface Streams {
  /** The brokers that there are now. */
  cluster(): Promise<{ readonly clusterId: string; readonly brokers: number }>
  /** Compares them with their contracts. */
  compare(): Promise<readonly TopicState[]>
  /** Makes those that are missing and sets what differs. */
  apply(): Promise<readonly TopicState[]>
}

/** A topic beside its contract. */
export interface TopicState {
  readonly topic: string
  /** 0 when the topic does not exist. */
  readonly partitions: number
  readonly replicas: number
  readonly differences: readonly TopicDifference[]
}

export interface TopicDifference {
  readonly topic: string
  readonly setting: string
  readonly found: string
  readonly wanted: string
}

/** Where a store is. */
export interface StorePlace {
  /** As it was named: `s3://bucket/prefix`. */
  readonly url: string
}

export interface StoreDriverCode<T extends StorePlace> {
  /** Tries the store first. Throws NodeError `StoreUnavailable` where it does not pass its trial. */
  open(options: T, opening: StoreOpening): Promise<ObjectStore>
}

export interface StoreOpening {
  readonly use: 'read' | 'write'
  /** Large objects pass through files here. */
  readonly spoolDir: string
  readonly logger: Logger
  /** A request without an answer for so long has failed. */
  readonly answerMs: number
  /** For so long a store that does not answer at the start is asked again. */
  readonly patienceMs: number
}
