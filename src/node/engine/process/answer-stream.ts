// A streamed answer in this process: between the engine's process, which sends pieces, and the reader, which takes them one by one.
// A piece counts as taken when the next one is asked for, so that what lies here is bounded by the window of the process.

import type { NodeError } from '../../../libraries/base/errors.ts'
import type { StreamReader } from './child-handle.ts'
import type { StreamEnd, StreamStart } from '../messages.ts'

/** A piece that waits for its reader. */
interface Piece {
  readonly bytes: Uint8Array
  readonly taken: () => void
}

/** An answer whose first bytes are there. Its pieces can be read once. */
export interface AnswerStream {
  readonly start: StreamStart
  /**
   * All pieces, the first ones included; it throws the NodeError with which the answer broke off. A reader that stops
   * early ends the query. Gives how the answer ended.
   */
  readonly pieces: AsyncGenerator<Uint8Array, StreamEnd>
}

export class AnswerPipe implements StreamReader {
  readonly #waiting: Piece[] = []
  readonly #onLeave: () => void
  #isRead = false
  #onChange: (() => void) | undefined
  #state:
    | { readonly kind: 'open' }
    | { readonly kind: 'ended'; readonly end: StreamEnd }
    | { readonly kind: 'failed'; readonly error: NodeError } = { kind: 'open' }
  #begun: ((start: StreamStart) => void) | undefined
  /** Resolves with the first bytes. */
  readonly started: Promise<StreamStart>

  /** `onLeave` is called when nobody reads any more. */
  constructor(onLeave: () => void) {
    this.#onLeave = onLeave
    this.started = new Promise((resolve) => (this.#begun = resolve))
  }

  begin(start: StreamStart): void {
    this.#begun?.(start)
  }

  more(bytes: Uint8Array): Promise<void> {
    return new Promise((taken) => {
      this.#waiting.push({ bytes, taken })
      this.#onChange?.()
    })
  }

  end(end: StreamEnd): void {
    if (this.#state.kind === 'open') this.#state = { kind: 'ended', end }
    this.#onChange?.()
  }

  fail(error: NodeError): void {
    if (this.#state.kind === 'open') this.#state = { kind: 'failed', error }
    this.#onChange?.()
  }

  /** The pieces from `first` on. */
  read(first: Uint8Array): AsyncGenerator<Uint8Array, StreamEnd> {
    const pieces = this.#read(first)
    const close = pieces.return.bind(pieces)
    // A generator that has not begun does nothing at its end.
    pieces.return = async (end) => {
      if (!this.#isRead) this.#leave()
      this.#isRead = true
      return await close(end)
    }
    return pieces
  }

  #leave(): void {
    this.#onLeave()
    for (const { taken } of this.#waiting.splice(0)) taken()
  }

  async *#read(first: Uint8Array): AsyncGenerator<Uint8Array, StreamEnd> {
    this.#isRead = true
    let isOver = false
    try {
      if (first.length > 0) yield first
      for (;;) {
        const piece = this.#waiting.shift()
        if (piece !== undefined) {
          yield piece.bytes
          piece.taken()
        } else if (this.#state.kind === 'open') {
          await new Promise<void>((resolve) => (this.#onChange = resolve))
        } else {
          isOver = true
          if (this.#state.kind === 'failed') throw this.#state.error
          return this.#state.end
        }
      }
    } finally {
      if (!isOver) this.#leave()
    }
  }
}
