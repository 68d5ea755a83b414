// A file that is read at its places, as the readers of files of any writer take it.

/** The bytes of a complete body. */
export interface BodyFile {
  readonly bytes: number
  /** Bytes [start, end), fewer where the body ends. */
  at(start: number, end: number): Promise<Uint8Array>
  /** Throws NodeError where nobody waits for what is read any more; long work asks now and then. */
  demandCaller(): void
}
