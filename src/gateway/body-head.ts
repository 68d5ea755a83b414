// The first bytes of a body: they explain a refusal, and tell a map that came as plain JSON from rows.

import { headBytes, lookAlikeHint, type MapDocument, mapDocumentOf } from '../formats/look-alike.ts'
import { concatBytes } from '../lib/bytes.ts'
import type { ErrorKind } from '../model/error-table.ts'
import { NodeError } from '../model/errors.ts'
import { foldAscii } from '../model/names.ts'
import type { Shape } from './shape.ts'

/** Refusals whose cause the look of the body may tell. */
const explainable: readonly ErrorKind[] = ['MalformedBody', 'RecordsDoNotFit', 'InvalidColumnName', 'NothingToInfer']

export class BodyHead {
  /** Name of the format. */
  readonly #format: string
  #bytes: Uint8Array = new Uint8Array()
  /** True while bytes are waited for: what goes wrong then is no fault of the records. */
  isWaiting = false

  constructor(format: string) {
    this.#format = format
  }

  add(chunk: Uint8Array): void {
    const missing = headBytes - this.#bytes.length
    if (missing <= 0) return
    // A copy: the chunk is given back when it has been read.
    this.#bytes = concatBytes([this.#bytes, chunk.subarray(0, missing)])
  }

  /** The map that the body is, sent as JSON to a dataset that has no columns for it. */
  mapDocument(shape: Shape | undefined): MapDocument | undefined {
    if (this.#format !== 'json' && this.#format !== 'ndjson') return undefined
    const document = mapDocumentOf(this.#bytes)
    const isColumn = shape?.fields.some(({ name }) => foldAscii(name) === document?.member)
    return isColumn === true ? undefined : document
  }

  /** The error for a map. */
  refusal({ what, hint }: MapDocument): NodeError {
    const message = `The body is ${what}, not rows.`
    return new NodeError('RecordsDoNotFit', `${message} Nothing was stored.`, {
      hint,
      errors: [{ record: 0, line: 1, byteOffset: 0, kind: 'MalformedRecord', message }],
      errorsTotal: 1,
    })
  }

  /** The error that tells what is wrong by the look of the body, where that explains it. */
  explained(error: unknown, shape: Shape | undefined): unknown {
    if (this.isWaiting || !(error instanceof NodeError) || !explainable.includes(error.kind)) return error
    const map = this.mapDocument(shape)
    if (map !== undefined) return this.refusal(map)
    const hint = lookAlikeHint(this.#bytes, this.#format)
    return hint === undefined ? error : new NodeError(error.kind, error.message, { ...error.details, hint })
  }
}
