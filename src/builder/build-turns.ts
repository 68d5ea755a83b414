// Large blocks are built one after the other in a process, for each takes several times its bytes of memory; small ones
// go past them.

/** Blocks of at most so many logged bytes need no turn. */
const smallBytes = 4 * 1024 * 1024

export class BuildTurns {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs `build` of a block of so many logged bytes, if need be after all large ones before it. */
  run<T>(payloadBytes: number, build: () => Promise<T>): Promise<T> {
    if (payloadBytes <= smallBytes) return build()
    const turn = this.#last.then(build)
    this.#last = turn.catch(() => undefined)
    return turn
  }
}
