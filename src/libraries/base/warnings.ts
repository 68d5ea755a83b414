// What is taken although it is changed or doubted, as sentences for `warnings` of the answer to a batch: each kind once, with how
// often and where first. A reader calls `add` for each value, and hands `texts` on when it is done: `ParsedBody.warnings` of a
// stream, `FileReader.warnings` of a file, `Inferred.warnings` of inference. Readers that have TypedColumns call their `warn`.

import { shortened } from './shortened.ts'

/** Kinds that are told; a body with more has other worries. */
const mostKinds = 20
const mostChars = 400

interface Told {
  count: number
  readonly first: number | undefined
}

export class Warnings {
  readonly #kinds = new Map<string, Told>()
  #leftOut = false

  /** `about`: what is so, as a sentence without its point, the same for all of a kind; `record`: 0-based, where it is so first. */
  add(about: string, record?: number, count = 1): void {
    const told = this.#kinds.get(about)
    if (told !== undefined) told.count += count
    else if (this.#kinds.size < mostKinds) this.#kinds.set(about, { count, first: record })
    else this.#leftOut = true
  }

  /** How often `about` was added, as far as its kind is told. */
  countOf(about: string): number {
    return this.#kinds.get(about)?.count ?? 0
  }

  /** The sentences, in the order in which their kinds were met. */
  get texts(): readonly string[] {
    const texts = Array.from(this.#kinds, ([about, told]) => `${shortened(about, mostChars)}${placeText(told)}.`)
    return this.#leftOut ? [...texts, 'There are warnings of more kinds, which are left out.'] : texts
  }
}

/** What a sentence is about, without count and place: the same for two sentences of a kind. */
export function kindOfWarning(text: string): string {
  return text.replace(/ \((?:record \d+|\d+ times, first in record \d+)\)\.$/, '.')
}

function placeText({ count, first }: Told): string {
  if (first === undefined) return ''
  return count === 1 ? ` (record ${first})` : ` (${count} times, first in record ${first})`
}

/** Those of several batches, one of a kind; undefined for none. */
export function joinedWarnings(...lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const byKind = new Map<string, string>()
  for (const text of lists.flatMap((list) => list ?? [])) {
    const kind = kindOfWarning(text)
    if (byKind.size < mostKinds && !byKind.has(kind)) byKind.set(kind, text)
  }
  return byKind.size === 0 ? undefined : [...byKind.values()]
}
