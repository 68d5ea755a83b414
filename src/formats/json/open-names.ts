// The names met so far in each object that is being checked, to find those that stand twice: by their bytes while an
// object has few, so that most objects cost neither a string nor a set. Used by `json-checker.ts`.

import { Scratch, stringText } from './text.ts'

/** Names of one object that are compared one by one. */
const fewNames = 16

export class OpenNames {
  /** Starts and ends of names, object after object, the innermost last. */
  private readonly bounds: number[] = []
  private top = 0
  /** Where the innermost object begins in `bounds`. */
  private base = 0
  /** The names of the innermost object once they are many or one is written with escapes, and of those around it. */
  private many: Set<string> | undefined = undefined
  private readonly around: (Set<string> | undefined)[] = []
  private readonly scratch = new Scratch()

  /** Forgets all objects. */
  clear(): void {
    this.top = 0
    this.base = 0
    this.many = undefined
    this.around.length = 0
  }

  /** Begins an object inside of the innermost; what `end` needs to come back. */
  begin(): number {
    const { base } = this
    this.around.push(this.many)
    this.many = undefined
    this.base = this.top
    return base
  }

  /** Ends the innermost object. */
  end(around: number): void {
    this.top = this.base
    this.base = around
    this.many = this.around.pop()
  }

  /** Whether the innermost object has the name `bytes[start, end)`; from now on it has. Escapes, if any, are good. */
  has(bytes: Uint8Array, start: number, end: number, escaped: boolean): boolean {
    if (this.many !== undefined || escaped || this.top - this.base >= 2 * fewNames) {
      return this.hasText(bytes, start, end)
    }
    const { bounds, top } = this
    const length = end - start
    for (let i = this.base; i < top; i += 2) {
      const from = bounds[i] ?? 0
      if ((bounds[i + 1] ?? 0) - from !== length) continue
      let same = 0
      while (same < length && bytes[from + same] === bytes[start + same]) same += 1
      if (same === length) return true
    }
    bounds[top] = start
    bounds[top + 1] = end
    this.top = top + 2
    return false
  }

  private hasText(bytes: Uint8Array, start: number, end: number): boolean {
    const { scratch, bounds } = this
    if (this.many === undefined) {
      this.many = new Set()
      for (let i = this.base; i < this.top; i += 2) {
        this.many.add(stringText(scratch, bytes, bounds[i] ?? 0, bounds[i + 1] ?? 0))
      }
    }
    const name = stringText(scratch, bytes, start, end)
    if (this.many.has(name)) return true
    this.many.add(name)
    return false
  }
}
