// The files whose footers an engine keeps. It lets go of none: a process that keeps many which statements do not read any
// more, because merged files have taken their place, makes room for a new one.

/** What the last so many statements have read is in use. */
const recentMost = 8
/** Some ten kilobytes each. */
const unusedMost = 1_024

export class Footers {
  readonly #kept = new Set<string>()
  readonly #recent: (readonly string[])[] = []

  /** A statement reads these files. */
  read(files: readonly string[]): void {
    for (const file of files) this.#kept.add(file)
    this.#recent.push(files)
    if (this.#recent.length > recentMost) this.#recent.shift()
  }

  /** Whether many are kept that were not read lately. */
  get areStale(): boolean {
    return this.#kept.size - new Set(this.#recent.flat()).size > unusedMost
  }
}
