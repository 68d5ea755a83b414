// Requests to one bucket: addressed, dated, signed, over connections that stay open. Nothing is repeated here but what the
// store has certainly not done: a request that it refused for its date, or for credentials that have been replaced since.

import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/logger.ts'
import { type Body, noBody } from './body.ts'
import { CredentialSource } from './credentials.ts'
import { exchange, type Sink } from './exchange.ts'
import { errorCodeOf, type S3Answer } from './faults.ts'
import { type Credentials, type Dialect, encodePath, queryText, signedHeaders } from './sign.ts'

/** A bucket, and how requests are addressed to it. */
export interface BucketAddress {
  readonly endpoint: URL
  readonly bucket: string
  readonly region: string
  /** The bucket is the first segment of the path; otherwise the first label of the host. */
  readonly pathStyle: boolean
  readonly dialect: Dialect
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Absent for the bucket itself. */
  readonly key?: string
  readonly query?: readonly (readonly [name: string, value: string])[]
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Body
  /** Called for each answer: what takes its body. */
  readonly sinkOf?: () => Sink
  /** Bytes that a success may have: by default those of the largest object, or of a page of a listing. */
  readonly mostBytes?: number
}

const objectBytesMost = 2 * 1024 * 1024 * 1024
/** A page has a thousand keys, of a thousand bytes each. */
const pageBytesMost = 16 * 1024 * 1024

export interface ClientOptions {
  readonly address: BucketAddress
  readonly credentials: CredentialSource
  readonly clock: Clock
  readonly logger: Logger
  /** Time for one request beside that for its bytes. */
  readonly answerMs: number
}

const socketsMost = 64
/** Clocks that differ by more are worth a warning. */
const skewWarnMs = 60_000
const skewCodes: ReadonlySet<string | undefined> = new Set(['RequestTimeTooSkewed', 'RequestExpired'])
const staleCodes: ReadonlySet<string | undefined> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidAccessKeyId',
  'InvalidToken',
  'TokenRefreshRequired',
])

export class S3Client {
  readonly #options: ClientOptions
  readonly #agent: HttpAgent | HttpsAgent
  /** The store's clock less ours, as its first answer had it. */
  #skewMs: number | undefined
  /** What is added to our clock when requests are dated. */
  #offsetMs = 0

  constructor(options: ClientOptions) {
    this.#options = options
    const agentOptions = { keepAlive: true, maxSockets: socketsMost, maxFreeSockets: socketsMost }
    const isTls = options.address.endpoint.protocol === 'https:'
    this.#agent = isTls ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions)
  }

  get dialect(): Dialect {
    return this.#options.address.dialect
  }

  /** A client whose signatures are wrong, to see whether the store looks at them. */
  asStranger(): S3Client {
    const { credentials, clock, logger } = this.#options
    const wrong = async (): Promise<Credentials> => ({
      ...(await credentials.current()),
      secretAccessKey: 'a wrong one',
    })
    return new S3Client({ ...this.#options, credentials: new CredentialSource(wrong, { clock, logger }) })
  }

  /**
   * Sends a request once. Resolves with the store's answer, whatever it says. Throws `Unanswered` where there is none in
   * time or not all of it, and what the source of credentials throws.
   */
  async send(request: S3Request): Promise<S3Answer> {
    const { credentials } = this.#options
    const used = await credentials.current()
    const answer = await this.#sendOnce(request, used)
    if (answer.status < 400 || answer.status > 403) return answer
    const code = errorCodeOf(answer)
    // Answers to HEAD have no code.
    const isBare = request.method === 'HEAD' && answer.status === 403
    if ((skewCodes.has(code) || isBare) && this.#takeOffset(answer)) return this.#sendOnce(request, used)
    if (!(staleCodes.has(code) || isBare) || !(await credentials.renewed(used))) return answer
    return this.#sendOnce(request, await credentials.current())
  }

  close(): void {
    this.#agent.destroy()
  }

  async #sendOnce(request: S3Request, credentials: Credentials): Promise<S3Answer> {
    const { method, key, query = [], headers = {}, body = noBody, sinkOf } = request
    const { mostBytes = method === 'GET' && key !== undefined ? objectBytesMost : pageBytesMost } = request
    const { address, clock, answerMs } = this.#options
    const { endpoint, bucket, pathStyle, dialect, region } = address
    const path = `/${encodePath([pathStyle ? bucket : [], key ?? []].flat().join('/'))}`
    const host = pathStyle ? endpoint.host : `${bucket}.${endpoint.host}`
    const length = method === 'PUT' || method === 'POST' ? { 'content-length': String(body.sizeBytes) } : {}
    const signed = signedHeaders(
      { method, path, query, headers: { ...headers, ...length, host }, bodySha256: body.sha256 },
      { dialect, region, credentials, timeMs: clock.nowMs() + this.#offsetMs },
    )
    const { protocol, port, hostname } = new URL(`${endpoint.protocol}//${host}`)
    const options = {
      method,
      protocol,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      path: query.length === 0 ? path : `${path}?${queryText(query)}`,
      headers: signed,
      agent: this.#agent,
    }
    const answer = await exchange({
      what: `${method} ${key ?? bucket}`,
      options,
      body,
      answerMs,
      clock,
      sink: sinkOf?.(),
      mostBytes,
    })
    this.#compareClocks(answer)
    return answer
  }

  /** Once, by the first answer that has a date. */
  #compareClocks(answer: S3Answer): void {
    if (this.#skewMs !== undefined) return
    this.#skewMs = this.#skewOf(answer)
    if (this.#skewMs === undefined || Math.abs(this.#skewMs) <= skewWarnMs) return
    const seconds = Math.round(this.#skewMs / 1000)
    this.#options.logger.warn({ seconds }, "the store's clock is ahead of this machine's by so many seconds")
  }

  #skewOf({ headers: { date } }: S3Answer): number | undefined {
    const dateMs = typeof date === 'string' ? Date.parse(date) : Number.NaN
    return Number.isNaN(dateMs) ? undefined : dateMs - this.#options.clock.nowMs()
  }

  /** Dates requests by the store's clock from here on; false when they are already. */
  #takeOffset(answer: S3Answer): boolean {
    const skewMs = this.#skewOf(answer) ?? 0
    if (Math.abs(skewMs - this.#offsetMs) <= skewWarnMs) return false
    this.#offsetMs = skewMs
    const seconds = Math.round(skewMs / 1000)
    this.#options.logger.warn({ seconds }, "requests to the store are dated by the store's clock from here on")
    return true
  }
}
