// What routes are given (the roles and the rules they speak for), and what they say of themselves.

import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Principal, Right } from '../access/scopes.ts'
import type { TokenRegistry } from '../access/tokens.ts'
import type { SavedQueries } from '../catalog/saved-queries.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Objects } from '../catalog/objects.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Html } from '../../libraries/base/html.ts'
import type { Hash } from '../../libraries/base/ids/identifiers.ts'
import type { Limits } from '../../libraries/base/limits.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { Instant } from '../../libraries/model/events.ts'
import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import type { Role } from '../../libraries/model/names.ts'
import type { Health } from '../machine/ops/health.ts'
import type { OutputFormats } from '../../libraries/columnar/outputs/formats.ts'
import type { Formats } from '../../libraries/formats/registry.ts'
import type { Metrics } from '../machine/ops/metrics.ts'
import type { NodeKey } from '../../libraries/proof/sign.ts'
import type { Signer } from '../../libraries/proof/signer.ts'
import type { AnswerFiles } from '../answers/answer-files.ts'
import type { BlockEvents } from '../answers/block-events.ts'
import type { Followers } from '../answers/followers.ts'
import type { Caller } from '../answers/pin.ts'
import type { RerunDeps } from '../answers/verify.ts'
import type { ReplicaDeps } from '../answers/query.ts'
import type { WorkPool } from '../machine/work/work-pool.ts'
import type { Listeners } from './listeners.ts'
import type { Readings } from './readings.ts'

/** What the node says of its log. */
export interface LogFacts {
  readonly kind: string
  readonly id: string
  readonly partitions: number
  /** Copies of each message, for a log in Kafka. */
  readonly replicas?: number
  /** What *logged* does not survive, when that is more than usual. */
  readonly caution?: string
}

/** What the node says of itself. */
export interface NodeFacts {
  readonly did: string
  readonly version: string
  readonly roles: readonly Role[]
  /** Absent where this process opens no log. */
  readonly log: LogFacts | undefined
}

/** What a replica is made of, with the files of its answers. */
type ReplicaParts = ReplicaDeps & RerunDeps & { readonly answerFiles: AnswerFiles }

export interface HttpContext {
  /** Routes of the features that this process has, and the names of those that it is to do without. */
  readonly routes: readonly OptionalRoutes[]
  readonly without: readonly string[]
  readonly formats: Formats
  readonly outputs: OutputFormats
  /** Every did:key with which nodes over this store have signed. */
  readonly signers: () => Promise<readonly Signer[]>
  readonly facts: NodeFacts
  readonly nodeKey: Pick<NodeKey, 'did' | 'sign'>
  /** Absent where the process has not this role. */
  readonly gateway: Gateway | undefined
  /** Address of the node whose datasets this one follows. */
  readonly origin: string | undefined
  /** Absent where the process has not this role. */
  readonly replica: ReplicaParts | undefined
  readonly catalog: Catalog
  readonly objects: Objects
  /** An object of the store by its key. */
  readonly stored: (key: string) => Promise<Uint8Array | undefined>
  readonly tokens: TokenRegistry
  readonly savedQueries: SavedQueries
  readonly health: Health
  readonly metrics: Metrics
  readonly limits: Limits
  readonly clock: Clock
  /** Reads large bodies. */
  readonly work: WorkPool
  readonly logger: Logger
  readonly anonymousRead: boolean
  readonly loopbackOnly: boolean
  /** How long a deleted dataset can be restored, unless a request says otherwise. */
  readonly deleteGraceMs: number
  readonly allowedHosts: readonly string[]
  /** Where others reach this node, without a slash at the end; undefined: as each request names it. */
  readonly publicUrl: string | undefined
  readonly corsOrigins: readonly string[] | undefined
  readonly trustedSigners: readonly string[]
}

/** Undefined in a process without a ledger. */
export function ledgerOf({ routes }: Pick<HttpContext, 'routes'>): LedgerAnswers | undefined {
  return routes.find(({ ledger }) => ledger !== undefined)?.ledger
}

/** What routes of the gateway are given. */
export type GatewayContext = HttpContext & { readonly gateway: Gateway }

/** Answers for browsers, of a process that has any. */
export interface Pages {
  send(reply: FastifyReply, page: { readonly title: string; readonly main: Html }): FastifyReply
  sendProblem(reply: FastifyReply, problem: Told): FastifyReply
  /** What stands where nothing may be read without a token. */
  sendTokenForm(reply: FastifyReply): FastifyReply
}

/** A block of a dataset. */
export interface LedgerBlock {
  readonly hash: Hash
  readonly sequence: number
  /** When it was committed. */
  readonly systemTime: Instant
}

/** What is promised of a block: that the ledger has the entry which follows from these salts, in hex, by then. */
export type LedgerPromise = Readonly<Record<'ledger' | 'by' | 'datasetSalt' | 'blockSalt', string>>

/** The proof of a block as a file, by when there is to be one, or why there is none. */
export type LedgerProof = { readonly proof: string } | { readonly notYet: string } | { readonly noProof: string }

/** What the ledger of the node says in answers of other routes, of datasets that their callers may read. */
export interface LedgerAnswers {
  /** Undefined where nothing is promised. */
  readonly promiseOf: (name: NameRecord, block: LedgerBlock) => Promise<LedgerPromise | undefined>
  /** Waits for nothing. */
  readonly proofOf: (name: NameRecord, block: LedgerBlock) => Promise<LedgerProof>
  /** By what a reader recomputes the entries of the blocks up to this one, as JSON; undefined where there are none. */
  readonly secretsOf: (name: NameRecord, sequence: number) => Promise<object | undefined>
}

/** Routes of a feature, by the role that answers them. */
export interface OptionalRoutes {
  readonly pages?: Pages
  readonly ledger?: LedgerAnswers
  /** Of every process; before all other routes. `reading` where it is a replica. */
  readonly every?: (app: FastifyInstance, context: HttpContext, reading: ReplicaContext | undefined) => void
  readonly gateway?: (app: FastifyInstance, context: GatewayContext) => void
  readonly replica?: (app: FastifyInstance, context: ReplicaContext) => void
}

/** Room for one request's answer, from which it is freed when the request is over. */
export type OpenRoom = Caller['room'] & {
  /** Idempotent. */
  close(): void
}

/** What routes of the replica are given. */
export type ReplicaContext = HttpContext & {
  readonly replica: ReplicaParts
  readonly readings: Readings
  /** Room for an answer to a caller. */
  readonly answers: { open(caller: string): OpenRoom }
  readonly listeners: Listeners
  readonly followers: Followers
  readonly events: BlockEvents
  /** Closes the connection when its client does not read. */
  readonly watchReader: (response: ServerResponse) => void
}

/** Status and body of a problem; members that are undefined are none. */
export interface Told {
  readonly status: number
  readonly mediaType: string
  readonly body: Readonly<Record<string, unknown>>
}

/** What pages are made from. */
export interface PageContext {
  readonly context: HttpContext
  /** Absent where the process has not the role replica. */
  readonly reading: ReplicaContext | undefined
}

/** The address of this node, of which all absolute links begin: as its operator says it, else as the client wrote it. */
export function hostOf(
  { publicUrl }: Pick<HttpContext, 'publicUrl'>,
  { protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>,
): string {
  return publicUrl ?? `${protocol}://${host}`
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly pages: Pages | undefined
  }
  interface FastifyRequest {
    principal: Principal
    /** As `tell` of the routes of the same path, where no route takes the request. */
    tell?: FastifyContextConfig['tell']
  }
  /** What a route says of itself. */
  interface FastifyContextConfig {
    /** The right without which it does not look at names or bodies. Routes without it are open to all. */
    readonly right?: Right | 'admin'
    /** A POST that changes nothing and costs much: pages may send it, those of origins that are not allowed may not. */
    readonly runs?: boolean
    /** Browsers get a page of it, and its errors as pages. */
    readonly page?: boolean
    /** It is a page where no other parameters are named; these say which bytes are wanted. */
    readonly pageParameters?: readonly string[]
    /** It is a page unless one of these is named, which say which bytes are wanted. */
    readonly dataParameters?: readonly string[]
    /** Unknown query parameters are ignored. */
    readonly looseParameters?: boolean
    /** S3 clients read there: their signature is not looked at, the token that goes with it is. */
    readonly isObjectStore?: boolean
    /** Why this process does not have it. */
    readonly absent?: string
    /** A problem as the clients of these routes read it. */
    readonly tell?: (problem: Told) => Told
    /** A request without Authorization may have its token as the parameter `p`, the password of old clients of InfluxDB. */
    readonly takesPassword?: boolean
    /** What the handler gets: plain values (default), values with their number tokens, or a checked `ReadProof`. */
    readonly reads?: 'plain' | 'tokens' | 'proof'
    /** The handler reads the body as a stream, whatever its media type. */
    readonly stream?: boolean
    /** The body has no end: it may be slow, and take any time. */
    readonly endless?: boolean
    /** A body that the handler reads by itself: described, not validated. */
    readonly describes?: { readonly body: object; readonly consumes: readonly string[] }
  }
}
