// Public as `@proofstream/client` and `proofstream/client`: a node as a JavaScript program sees it, in Node.js
// (20.19 or newer) and in browsers: ask, write, read the newest rows, hear of new blocks, keep receipts and proofs, check what was
// saved. Needs nothing but the platform's fetch.

import { parseJson, type PlainJson, toPlain } from '../base/json/json.ts'
import type { JsonValue } from '../base/json/value.ts'
import type { OfflineSuccess } from '../proof/verify.ts'
import { type ClientOptions, datasetPath, Exchange, ProofstreamError } from './exchange.ts'
import { type FileVerdict, judgedFile, verifiedAnswer, type VerifyOptions } from './files.ts'
import { type BlockEvent, listen, type ListenOptions, type Offsets, type Row } from './listen.ts'
import { recordLines } from './records.ts'

export { type ClientOptions, ProofstreamError } from './exchange.ts'
export type { AnswerVerdict, FileVerdict, LedgerVerdict, VerifyOptions } from './files.ts'
export type { BlockEvent, ListenOptions, Offsets, Row } from './listen.ts'

export interface QueryOptions {
  /** Values for `$name` by name, or for `$1`, `$2`, … in order. */
  readonly parameters?: Readonly<Record<string, unknown>> | readonly unknown[]
  /** Rows at most; by default all that the node answers at once, mostly 100,000. */
  readonly limit?: number
  /** Rows left out at the start. */
  readonly skip?: number
  /** Asks for a proof and checks it before the rows are handed over. */
  readonly proof?: boolean
  /** With a proof: did:key that must have signed. */
  readonly signer?: string
  readonly signal?: AbortSignal
}

export interface QueryAnswer {
  readonly rows: readonly Row[]
  /** There are more rows than these. */
  readonly truncated: boolean
  /** The answer as it came: with a proof what to save, and what `verify` takes. */
  readonly text: string
  /** Where a proof was asked for: what was signed, by whom. */
  readonly checked?: OfflineSuccess
}

export interface TailOptions {
  /** Rows at most; 100 by default. */
  readonly limit?: number
  /** Rows left out, counted from the newest. */
  readonly skip?: number
  /** Hash of a block; the head by default. */
  readonly at?: string
  readonly signal?: AbortSignal
}

export interface IngestOptions {
  /** Of a body that is text or bytes; NDJSON by default. */
  readonly mediaType?: string
  /** Makes the dataset where it is missing. */
  readonly create?: boolean
  /** A batch with the same key is stored once; a random one by default, which holds for this call. */
  readonly key?: string
  /** Seconds to wait for the block; 0: return when the rows are safe in the log. The node decides by default. */
  readonly waitSeconds?: number
  /** Other controls of ingest by name: `eventTimeUnit`, `integers`, `unknown-fields`, … */
  readonly controls?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** What became of a batch. */
export interface Receipt {
  readonly receiptId: string
  readonly status: 'accepted' | 'committed' | 'rejected' | 'lost'
  readonly dataset: { readonly id: string; readonly alias: string }
  readonly records: { readonly received: number; readonly committed: number; readonly duplicates: number }
  readonly bodyHash: string
  readonly mediaType: string
  readonly bytes: number
  readonly ignoredParameters?: readonly string[]
  readonly log: { readonly name: string; readonly partition: number; readonly position: number }
  /** Where it is committed. */
  readonly block?: { readonly hash: string; readonly sequence: number }
  readonly offsets?: Offsets
  readonly idempotencyKey?: string
  /** True in the answer to a repeat: the batch was stored before. */
  readonly replayed?: boolean
  readonly csvHeader?: string
  /** Of a batch that no block took and none will: what was given up with its log. */
  readonly lost?: { readonly log: string; readonly partition: number; readonly from: number; readonly to?: number }
  /** Where its event times came from; `missing` records had none of their own. Only in the answer to the batch. */
  readonly eventTime?: {
    readonly from: 'field' | 'header' | 'received'
    readonly name?: string
    readonly missing?: number
    readonly otherwise?: 'header' | 'received'
  }
  /** What was taken although it was changed or is doubted. Only in the answer to the batch. */
  readonly warnings?: readonly string[]
  readonly times: { readonly received: string; readonly accepted: string; readonly committed?: string }
  /** Why it was rejected. */
  readonly errors?: readonly { readonly kind: string; readonly message: string }[]
  /** Of a signed receipt: its batch in the records of the ledger, and when it was signed. */
  readonly batchId?: string
  readonly time?: string
  /** Of a signed receipt: the ledger has the entry that follows from these salts by then. */
  readonly promise?: Readonly<Record<'ledger' | 'by' | 'datasetSalt' | 'blockSalt', string>>
  /** Of a signed receipt: the signature of the node. */
  readonly proof?: { readonly type: string; readonly verificationMethod: string; readonly proofValue: string }
}

export interface ReceiptOptions {
  /** By the node key, with what the ledger promises where it does. */
  readonly signed?: boolean
  readonly signal?: AbortSignal
}

export interface ReceiptAnswer {
  readonly receipt: Receipt
  /** The receipt as it came: what to save of a signed one, and what `verify` takes. */
  readonly text: string
}

/** A batch (a `Receipt` is one), a block by its hash, or a row by its offset. */
export type ProofTarget =
  | { readonly receiptId: string }
  | { readonly dataset: string; readonly block: string }
  | { readonly dataset: string; readonly offset: number | bigint }

export interface ProofOptions {
  /** The form of the file; `tlog-proof` by default. */
  readonly as?: 'tlog-proof' | 'json'
  readonly signal?: AbortSignal
}

/** What a node answers at once, unless its operator has said otherwise. */
const mostRows = 100_000

/** The rows that a node answers at once, where it has refused to answer more. */
function rowsLimitOf(error: unknown): number | undefined {
  const { name, value } = Object(error instanceof ProofstreamError ? error.problem['limit'] : undefined)
  return name === 'resultRows' && typeof value === 'number' ? value : undefined
}

/** A node. Methods throw ProofstreamError with the node's words, after up to five repeats of what may succeed later. */
export class ProofstreamClient {
  readonly #exchange: Exchange

  constructor(url: string | URL, options: ClientOptions = {}) {
    this.#exchange = new Exchange(url, options)
  }

  /** Runs one SELECT. With `proof`, throws as `verify` where the proof does not hold. */
  async query(sql: string, options: QueryOptions = {}): Promise<QueryAnswer> {
    const { parameters, limit, skip, proof = false, signer, signal } = options
    const include = proof ? ['Input', 'Proof', 'Schema'] : []
    const asked = { query: sql, parameters, skip, dataFormat: 'JsonAos', include }
    const ask = (rows: number): Promise<string> =>
      this.#exchange.text('/query', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: recordLines([{ ...asked, limit: rows }]),
        signal,
      })
    const text = await ask(limit ?? mostRows).catch((error: unknown) => {
      const most = limit === undefined ? rowsLimitOf(error) : undefined
      if (most === undefined) throw error
      return ask(most)
    })
    const { output } = membersOf(text)
    const { data, truncated } = membersOf(output)
    const whole = { rows: rowsOf(data), truncated: truncated === true, text }
    return proof ? { ...whole, checked: this.verify(text, signer) } : whole
  }

  /** The newest rows of a dataset, ascending by offset, with its system columns. */
  async tail(dataset: string, { limit, skip, at, signal }: TailOptions = {}): Promise<readonly Row[]> {
    const query = { limit: limit?.toString(), skip: skip?.toString(), at, dataFormat: 'JsonAos' }
    const text = await this.#exchange.text(`${datasetPath(dataset)}/tail`, { query, signal })
    return rowsOf(membersOf(text)['data'])
  }

  /**
   * Stores one batch, whole or not at all: objects (bigints and dates go as they should), or a body of some media type. What
   * is repeated within the call is stored once.
   */
  async ingest(
    dataset: string,
    records: Iterable<object> | string | Uint8Array<ArrayBuffer> | Blob,
    options: IngestOptions = {},
  ): Promise<Receipt> {
    const { mediaType = 'application/x-ndjson', create = false, key, waitSeconds, controls, signal } = options
    const isBody = typeof records === 'string' || records instanceof Uint8Array || records instanceof Blob
    const prefer = waitSeconds === 0 ? 'respond-async' : `wait=${waitSeconds}`
    const text = await this.#exchange.text(`${datasetPath(dataset)}/ingest`, {
      method: 'POST',
      query: { ...controls, ...(create && { create: 'true' }) },
      headers: {
        'content-type': isBody ? mediaType : 'application/x-ndjson',
        'idempotency-key': key ?? crypto.randomUUID(),
        ...(waitSeconds !== undefined && { prefer }),
      },
      body: isBody ? records : recordLines(records),
      signal,
    })
    return JSON.parse(text) as Receipt // the shape of the node's own document
  }

  /** The receipt of a batch as of now. */
  async receipt(id: string, { signed = false, signal }: ReceiptOptions = {}): Promise<ReceiptAnswer> {
    const query = signed ? { include: 'signature' } : {}
    const text = await this.#exchange.text(receiptPath(id), { query, signal })
    return { receipt: JSON.parse(text) as Receipt, text } // the shape of the node's own document
  }

  /**
   * The file that shows to anybody that the ledger has a batch, a block or a row, as it came. Throws ProofstreamError
   * `NotYetInLedger` where it has not come after the repeats, `NoSuchProof` where it never will.
   */
  async proof(target: ProofTarget, { as: format, signal }: ProofOptions = {}): Promise<string> {
    return await this.#exchange.text(`${provenPath(target)}/proof`, { query: { format }, signal })
  }

  /**
   * The blocks of datasets (aliases or DIDs) as they are committed, each once and in order, over lost connections and
   * restarts of the node; until `signal` aborts or the loop is left. Throws ProofstreamError where they may not be read, or
   * not any more.
   */
  events(datasets: string | readonly string[], options: ListenOptions = {}): AsyncGenerator<BlockEvent> {
    return listen(this.#exchange, [datasets].flat(), options)
  }

  /**
   * Checks an answer with its proof by itself: no node is asked. Throws ProofstreamError with the kind of the check that
   * failed, such as `InvalidRequest::OutputHash`, and the whole verdict in `problem`.
   */
  verify(answer: string | Uint8Array, signer?: string): OfflineSuccess
  /**
   * Judges a file of any kind: an answer as above, or a proof of a ledger, a signed receipt, refusal, statement or head, a
   * broken promise. Of a file that is intact the caller weighs the verdict; all is well where it is `verified`, `included`,
   * `signed` or `promised, not yet due`. Throws ProofstreamError `Altered` where file or signer is another; for an answer as above.
   */
  verify(file: string | Uint8Array, options: VerifyOptions): FileVerdict
  verify(file: string | Uint8Array, by?: string | VerifyOptions): OfflineSuccess | FileVerdict {
    return typeof by === 'object' ? judgedFile(file, by) : verifiedAnswer(file, by)
  }
}

function receiptPath(id: string): string {
  return `/receipts/${encodeURIComponent(id)}`
}

function provenPath(target: ProofTarget): string {
  if ('receiptId' in target) return receiptPath(target.receiptId)
  const dataset = datasetPath(target.dataset)
  return 'block' in target
    ? `${dataset}/blocks/${encodeURIComponent(target.block)}`
    : `${dataset}/rows/${target.offset}`
}

function membersOf(value: string | JsonValue | undefined): Readonly<Record<string, JsonValue>> {
  const members = typeof value === 'string' ? parseJson(value, { maxDepth: 256 }) : value
  return members instanceof Map ? Object.fromEntries(members) : {}
}

function rowsOf(data: JsonValue | undefined): Row[] {
  const plain: PlainJson = toPlain(data ?? [], { largeIntegers: 'bigint' })
  return plain as Row[] // an answer in JsonAos is an array of objects
}
