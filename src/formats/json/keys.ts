// Reads the keys of JSON objects to columns: matched as bytes against the order last met, so that a record like its
// predecessor costs no string. Used by `json-record.ts`.

import { copyBytes } from '../../lib/bytes.ts'
import { foldAscii } from '../../model/names.ts'
import { type TablePlan, unknownName } from '../column-plan.ts'
import type { JsonChecker } from './checker.ts'
import { quote, scanString, Scratch, StringScan, stringText, unescapeString } from './text.ts'

/** Result of `KeyReader.read` after a fault. */
export const noKey = -3

export class KeyReader {
  /** The key last read, between its quotes. */
  start = 0
  end = 0
  private readonly plan: TablePlan
  private readonly checker: JsonChecker
  private readonly string = new StringScan()
  private readonly scratch = new Scratch()

  constructor(plan: TablePlan, checker: JsonChecker) {
    this.plan = plan
    this.checker = checker
  }

  /**
   * Reads the key that opens at `at`, number `index` of its object: its column, `reservedName`, `unknownName`, or
   * `noKey` after a fault, which the checker tells.
   */
  read(bytes: Uint8Array, at: number, end: number, index: number): number {
    const { keyBytes, keyColumns } = this.plan
    if (at >= end || bytes[at] !== quote) {
      this.checker.malformed(bytes, at, end, 'a member name in quotes')
      return noKey
    }
    const hint = keyBytes[index]
    if (hint !== undefined) {
      const { length } = hint
      if (at + length + 1 < end && bytes[at + length + 1] === quote) {
        let i = 0
        while (i < length && hint[i] === bytes[at + 1 + i]) i += 1
        if (i === length) {
          this.start = at + 1
          this.end = at + 1 + length
          return keyColumns[index] ?? unknownName
        }
      }
    }
    return this.lookUp(bytes, at, end, index)
  }

  private lookUp(bytes: Uint8Array, at: number, end: number, index: number): number {
    const { string, scratch, checker } = this
    const after = scanString(string, bytes, at, end)
    if (after < 0) {
      checker.badString(bytes, at, -1 - after, end)
      return noKey
    }
    this.start = string.start
    this.end = string.end
    if (string.escaped) {
      const fault = unescapeString(scratch, bytes, string.start, string.end)
      if (fault !== undefined) {
        checker.badEscape(fault, at, after)
        return noKey
      }
    }
    const column = this.plan.byName.get(foldAscii(this.text(bytes))) ?? unknownName
    if (column >= 0 && !string.escaped) {
      const { keyBytes, keyColumns } = this.plan
      // Hints stay dense and few; a key far out of order finds its place a record later.
      if (index <= keyBytes.length && index < this.plan.columns.length) {
        keyBytes[index] = copyBytes(bytes, string.start, string.end)
        keyColumns[index] = column
      }
    }
    return column
  }

  /** The text of the key last read. */
  text(bytes: Uint8Array): string {
    return stringText(this.scratch, bytes, this.start, this.end)
  }
}
