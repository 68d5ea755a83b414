// Notices a body that became one row although its rows are inside: an object with an array of objects, or a table by columns.

import { NodeError } from '../../base/errors.ts'
import type { Inferred } from '../format.ts'
import { openBrace, openBracket, pointerSegment, skipSpace } from './text.ts'

export class DocumentWatch {
  #objects = 0
  /** Of the first object: its members, those that are no single values, and the names of its arrays of objects. */
  #members = 0
  #nested = 0
  readonly #arrays: string[] = []
  /** JSON pointers of arrays of objects one level below. */
  readonly #deeper: string[] = []

  /** The next object of the body begins. */
  begin(): void {
    this.#objects += 1
  }

  /** True while members of objects inside are of interest. */
  get isFirst(): boolean {
    return this.#objects === 1
  }

  /** Takes a member of the object `outer` inside of the first one. */
  inside(outer: string, name: string, bytes: Uint8Array, at: number): void {
    if (isRows(bytes, at)) this.#deeper.push(`${pointerSegment(outer)}${pointerSegment(name)}`)
  }

  /** Takes a member of the object, whose value is at `at`. */
  member(name: string, bytes: Uint8Array, at: number): void {
    if (this.#objects > 1) return
    this.#members += 1
    if (bytes[at] !== openBrace && bytes[at] !== openBracket) return
    this.#nested += 1
    if (isRows(bytes, at)) this.#arrays.push(name)
  }

  /**
   * What was inferred, with a warning where the one row has columns that hold rows. Throws NodeError `RecordsDoNotFit` where
   * nothing else is in it.
   */
  judge(inferred: Inferred): Inferred {
    const isNew = (name: string): boolean => inferred.added.some((field) => field.name === name)
    if (inferred.records !== 1 || this.#objects !== 1 || this.#nested === 0) return inferred
    const arrays = this.#arrays.filter(isNew)
    const [first] = arrays
    if (first !== undefined && this.#members === 1) throw wrapped(first)
    const warnings = arrays.map(
      (name) =>
        `The body is one row, with the array '${name}' as text; with records=${pointerSegment(name)} (application/json) each element is a row.`,
    )
    for (const pointer of this.#deeper)
      warnings.push(
        `The body is one row, with an array of objects at ${pointer}; with records=${pointer} (application/json) each is a row.`,
      )
    const isTable =
      this.#nested === this.#members && this.#members > 1 && arrays.length === 0 && inferred.added.length > 1
    if (isTable)
      warnings.push('The body is one row, whose values are all arrays and objects: rows are objects in an array.')
    return warnings.length === 0 ? inferred : { ...inferred, warnings: [...(inferred.warnings ?? []), ...warnings] }
  }
}

function isRows(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === openBracket && bytes[skipSpace(bytes, at + 1, bytes.length)] === openBrace
}

function wrapped(name: string): NodeError {
  const message = `The body is one object with nothing but the array '${name.slice(0, 80)}' in it, whose elements seem to be the rows.`
  return new NodeError('RecordsDoNotFit', `${message} Nothing was stored.`, {
    hint: `Say records=${pointerSegment(name)}, as application/json. If it is one row all the same, first create the dataset with its column by PUT.`,
    errors: [{ record: 0, kind: 'MalformedRecord', message, pointer: pointerSegment(name) }],
    errorsTotal: 1,
  })
}
