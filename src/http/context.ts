// What routes are given: the roles and the rules they speak for.

import type { ServerResponse } from 'node:http'
import type { Principal } from '../access/scopes.ts'
import type { TokenRegistry } from '../access/tokens.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Objects } from '../catalog/objects.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Clock } from '../lib/clock.ts'
import type { Limits } from '../lib/limits.ts'
import type { Logger } from '../lib/logger.ts'
import type { Role } from '../model/roles.ts'
import type { Health } from '../ops/health.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { ReplicaDeps } from '../replica/query.ts'
import type { WorkPool } from '../work/work-pool.ts'
import type { AnswersUnderWay } from './answers-under-way.ts'

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

export interface HttpContext {
  /** Every did:key with which nodes over this store have signed. */
  readonly signers: () => Promise<readonly string[]>
  readonly facts: NodeFacts
  /** Absent where the process has not this role. */
  readonly gateway: Gateway | undefined
  /** Absent where the process has not this role. */
  readonly replica: ReplicaDeps | undefined
  readonly catalog: Catalog
  readonly store: ReplicaDeps['store']
  readonly objects: Objects
  readonly tokens: TokenRegistry
  readonly health: Health
  readonly metrics: Metrics
  readonly limits: Limits
  readonly clock: Clock
  /** Reads large bodies. */
  readonly work: WorkPool
  readonly logger: Logger
  readonly anonymousRead: boolean
  readonly loopbackOnly: boolean
  readonly allowedHosts: readonly string[]
  readonly corsOrigins: readonly string[] | undefined
  readonly trustedSigners: readonly string[]
  readonly defaultDataFormat: string
}

/** What routes of the gateway are given. */
export type GatewayContext = HttpContext & { readonly gateway: Gateway }

/** What routes of the replica are given. */
export type ReplicaContext = HttpContext & {
  readonly replica: ReplicaDeps
  readonly answers: AnswersUnderWay
  /** Closes the connection when its client does not read. */
  readonly watchReader: (response: ServerResponse) => void
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal
  }
}
