// Patterns of days and times as the module reads them: an instant, and the steps that write over it. Words, offsets and years of two
// digits are left to the TypeScript reader.

import { utf8 } from '../../base/bytes.ts'
import { type DatePattern, instantSpan, patternSteps, plainInstant } from '../dialect/date-pattern.ts'
import { quote } from '../json/text.ts'
import * as layout from './layout.ts'

/** The record of a pattern for cells that `separator` stands between; undefined where the module cannot read it. */
export function patternRecord(pattern: DatePattern, separator: number): Uint8Array | undefined {
  const { fields } = pattern
  const steps = patternSteps(pattern)
  const isRead = steps.every((step, at) => {
    if (at % 2 === 0) return step <= layout.stepOfDigits
    const isPlain = step >= 0x20 && step < 0x7f && step !== separator && step !== quote
    return steps[at - 1] !== layout.stepOfByte || isPlain
  })
  // White space at the ends is not of a cell, whatever a pattern says.
  if (!isRead || fields[0]?.kind === 'text' || fields.at(-1)?.kind === 'text') return undefined
  const record = new Uint8Array(layout.patternBytes)
  record.set(utf8(`${plainInstant.slice(0, instantSpan(pattern)[1])}\n`))
  record.set(steps, layout.patternHead)
  return record
}
