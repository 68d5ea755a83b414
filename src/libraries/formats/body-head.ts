// The first bytes of a body: they explain a refusal, and tell a map that came as plain JSON, or a page that came as CSV, from rows.

import { headBytes, lookAlikeHint, mapDocumentOf, markupOf, type OtherDocument } from './look-alike.ts'
import { concatBytes } from '../base/bytes.ts'
import type { ErrorKind } from '../base/error-table.ts'
import { NodeError } from '../base/errors.ts'
import type { Hash } from '../base/ids/identifiers.ts'
import { foldAscii } from '../model/names.ts'
import type { Field } from '../model/schema.ts'

/** As much of a body of cells as its dialect is looked for in. */
const cellsBytes = 256 * 1024

/** Refusals whose cause the look of the body may tell. */
const explainable: readonly ErrorKind[] = ['MalformedBody', 'RecordsDoNotFit', 'InvalidColumnName', 'NothingToInfer']

export class BodyHead {
  /** Name of the format. */
  readonly #format: string
  readonly #isSpelt: boolean
  readonly #pieces: Uint8Array[] = []
  #length = 0
  /** True while bytes are waited for: what goes wrong then is no fault of the records. */
  isWaiting = false
  /** Of the whole body, once it was read. */
  bodyHash: Hash | undefined

  /** `isSpelt`: the request says how cells or texts are spelt. */
  constructor(format: string, isSpelt: boolean) {
    this.#format = format
    this.#isSpelt = isSpelt
  }

  add(chunk: Uint8Array): void {
    const missing = (this.#isCells ? cellsBytes : headBytes) - this.#length
    if (missing <= 0) return
    // A copy: the chunk is given back when it has been read.
    const piece = new Uint8Array(chunk.subarray(0, missing))
    this.#pieces.push(piece)
    this.#length += piece.length
  }

  /** Of a body of cells what a dialect is found in, of others what tells a document. */
  get bytes(): Uint8Array {
    const all = concatBytes(this.#pieces)
    if (this.#pieces.length > 1) this.#pieces.splice(0, this.#pieces.length, all)
    return all
  }

  get #bytes(): Uint8Array {
    return this.bytes.subarray(0, headBytes)
  }

  get #isCells(): boolean {
    return this.#format === 'csv' || this.#format === 'tsv'
  }

  /** What the body is instead of rows: a map as JSON where the dataset has no columns for it, a page as the first cells of a dataset. */
  otherDocument(columns: readonly Field[] | undefined): OtherDocument | undefined {
    if (this.#isCells) return (columns?.length ?? 0) === 0 ? markupOf(this.#bytes) : undefined
    if (this.#format !== 'json' && this.#format !== 'ndjson') return undefined
    const document = mapDocumentOf(this.#bytes)
    const isColumn = columns?.some(({ name }) => foldAscii(name) === document?.member)
    return isColumn === true ? undefined : document
  }

  /** The error for such a document. */
  refusal({ what, hint }: OtherDocument): NodeError {
    const message = `The body is ${what}, not rows.`
    return new NodeError('RecordsDoNotFit', `${message} Nothing was stored.`, {
      hint,
      errors: [{ record: 0, line: 1, byteOffset: 0, kind: 'MalformedRecord', message }],
      errorsTotal: 1,
    })
  }

  /** The error that tells what is wrong by the look of the body, where that explains it. */
  explained(error: unknown, columns: readonly Field[] | undefined): unknown {
    if (this.isWaiting || !(error instanceof NodeError) || !explainable.includes(error.kind)) return error
    const document = this.otherDocument(columns)
    if (document !== undefined) return this.refusal(document)
    const isWhole = this.bodyHash !== undefined
    const hint = this.#isSpelt ? undefined : lookAlikeHint(this.#bytes, this.#format, isWhole)
    return hint === undefined ? error : new NodeError(error.kind, error.message, { ...error.details, hint })
  }
}
