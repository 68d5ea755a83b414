// Requests of the JavaScript client: one address, one token, over the platform's fetch; what may succeed later is tried
// again, a bounded number of times, and what a node refuses is an error in its words.

import { defined } from '../base/collections.ts'
import { boundedJson, boundedText } from '../base/bounded-body.ts'
import { systemClock } from '../base/clock.ts'

/** What a node refused, or that no answer came of it. */
export class ProofstreamError extends Error {
  override readonly name: string = 'ProofstreamError'
  /** HTTP status; 0 where no answer came. */
  readonly status: number
  /** Kind of the node's error table (docs/errors.md); `Unreachable` where no answer came. */
  readonly kind: string
  /** What to do next, where the node says so. */
  readonly hint: string | undefined
  /** True when the same request may succeed later. */
  readonly isRetryable: boolean
  /** The whole body (RFC 9457); empty where no answer came. */
  readonly problem: Readonly<Record<string, unknown>>

  constructor(status: number, problem: Readonly<Record<string, unknown>>, cause?: unknown) {
    const { error, message, hint, retryable } = problem
    super(
      typeof message === 'string'
        ? message.slice(0, longestMessage)
        : `The node answered ${status} without saying why.`,
      { cause },
    )
    const kind = typeof error === 'object' && error !== null && 'kind' in error ? error.kind : undefined
    this.status = status
    this.kind = typeof kind === 'string' ? kind : 'Unknown'
    this.hint = typeof hint === 'string' ? hint : undefined
    this.isRetryable = retryable === true || retryableStatus.has(status)
    this.problem = problem
  }
}

const retryableStatus: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])
/** Repeats after the first try. */
export const retries = 5
const firstPauseMs = 250
const longestPauseMs = 8_000
/** Of what a node says of a refusal: bytes of its body, values in it, characters that are told. */
const problemBytes = 256 * 1024
const problemValues = 20_000
const longestMessage = 4_000
/** Bytes of an answer: more is no text that a program can hold. */
const answerBytes = 512 * 1024 * 1024
/** Within one origin. */
const redirectsMost = 5
/** A node may ask for any pause; more than this is no longer waiting. */
const longestAskedMs = 30_000

export interface ClientOptions {
  /** Text of a token; none reads what anyone may read. */
  readonly token?: string
  /** In place of the platform's. */
  readonly fetch?: typeof fetch
}

export interface Sent {
  readonly method?: 'GET' | 'POST'
  /** Members that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer> | Blob
  readonly signal?: AbortSignal | undefined
}

export class Exchange {
  readonly #base: string
  readonly #token: string | undefined
  readonly #fetch: typeof fetch

  constructor(url: string | URL, options: ClientOptions) {
    this.#base = new URL(url).href.replace(/\/$/, '')
    this.#token = options.token
    this.#fetch = options.fetch ?? ((...given) => fetch(...given))
  }

  /**
   * The answer to a request that may be repeated. Throws ProofstreamError for every status from 400, and where no answer
   * came of six tries; what `signal` was aborted with.
   */
  async send(path: string, sent: Sent = {}): Promise<Response> {
    for (let tried = 0; ; tried++) {
      try {
        return await this.once(path, sent)
      } catch (error) {
        if (!(error instanceof ProofstreamError) || !error.isRetryable || tried >= retries) throw error
        await pause(pauseMs(tried, error), sent.signal)
      }
    }
  }

  /** The text of the answer. Throws as `send`, and `Unreachable` where not all of it comes. */
  async text(path: string, sent: Sent = {}): Promise<string> {
    const answer = await this.send(path, sent)
    return await boundedText(answer, answerBytes).catch((cause: unknown) => {
      sent.signal?.throwIfAborted()
      throw unreachable(this.#base, cause)
    })
  }

  /** As `send`, tried once. A redirect is followed within the origin of this node, and nowhere else. */
  async once(path: string, { method = 'GET', query = {}, headers, body, signal }: Sent): Promise<Response> {
    const url = new URL(this.#base + path)
    for (const [name, value] of Object.entries(query)) {
      for (const one of value === undefined ? [] : [value].flat()) url.searchParams.append(name, one)
    }
    const authorization = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }
    const init = {
      method,
      headers: { ...authorization, ...headers },
      ...defined({ body, signal }),
    }
    let at = url
    for (let hops = 0; ; hops++) {
      let answer: Response
      try {
        answer = await this.#fetch(at.href, { ...init, redirect: 'manual' })
        // A browser does not say where to; it sends no token to another origin.
        if (answer.type === 'opaqueredirect') answer = await this.#fetch(at.href, init)
      } catch (cause) {
        signal?.throwIfAborted()
        throw unreachable(url.origin, cause)
      }
      if (answer.redirected && new URL(answer.url).origin !== url.origin) throw redirected(url.origin)
      if (answer.status >= 400) throw await refusal(answer)
      const next = placeOf(answer, method, at)
      if (next === undefined) return answer
      await answer.body?.cancel().catch(() => {})
      if (next.origin !== url.origin || hops === redirectsMost) throw redirected(url.origin)
      at = next
    }
  }
}

/** No answer came, or not all of it. */
export function unreachable(origin: string, cause: unknown): ProofstreamError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const message = `${origin} gave no answer: ${reason}`
  return new ProofstreamError(0, { error: { kind: 'Unreachable' }, message, retryable: true }, cause)
}

/** Where an answer sends a request on to, as it is; undefined where it does not. Throws ProofstreamError for one that would be another. */
function placeOf({ status, headers }: Response, method: string, at: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status)) return undefined
  const location = headers.get('location') ?? ''
  const isSame = status > 303 || method === 'GET'
  if (!isSame || !URL.canParse(location, at.href)) throw redirected(at.origin)
  return new URL(location, at.href)
}

function redirected(origin: string): ProofstreamError {
  const message = `${origin} sends this request to another place, which is not asked.`
  return new ProofstreamError(0, { error: { kind: 'Redirected' }, message })
}

async function refusal(answer: Response): Promise<ProofstreamError> {
  const text = await boundedText(answer, problemBytes).catch(() => '')
  return new ProofstreamError(answer.status, {
    ...problemOf(text),
    ...(answer.headers.has('retry-after') && { retryAfter: Number(answer.headers.get('retry-after')) }),
  })
}

/** The members of a JSON object; none of any other text, and of one that is no problem for its size. */
export function problemOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = boundedJson(text, problemValues)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** Doubles from try to try; the random quarter keeps many clients from coming back at once. */
export function pauseMs(tried: number, error?: ProofstreamError): number {
  const asked = Number(error?.problem['retryAfter'] ?? 0) * 1000
  const ownMs = Math.min(longestPauseMs, firstPauseMs * 2 ** tried) * (1 - chance() / 4)
  return Math.max(ownMs, Math.min(longestAskedMs, asked))
}

/** From 0 to below 1. */
function chance(): number {
  return (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) / 256
}

/** Resolves after `ms`. Throws what `signal` is aborted with. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await systemClock.sleep(ms, signal)
  signal?.throwIfAborted()
}

/** `/account/dataset` of a name. Throws ProofstreamError `InvalidName`. */
export function datasetPath(name: string): string {
  const parts = name.split('/')
  if (parts.length !== 2) {
    throw new ProofstreamError(0, { error: { kind: 'InvalidName' }, message: `'${name}' is not account/dataset.` })
  }
  return `/${parts.map(encodeURIComponent).join('/')}`
}
