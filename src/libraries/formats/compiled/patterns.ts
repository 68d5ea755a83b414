// Patterns of days and times as the module reads them: an instant, and the steps that write over it. Words, offsets and years of two
// digits are left to the TypeScript reader.

import { utf8 } from '../../base/bytes.ts'
import { type ColumnPlan, valueCode } from '../column-plan.ts'
import { type DatePattern, instantSpan, patternSteps, plainInstant } from '../dialect/date-pattern.ts'
import { quote } from '../json/text.ts'
import * as layout from './layout.ts'

/** No value has it: a line feed. */
const unread = [layout.stepOfByte, 0x0a]

/** The record of a pattern for cells that `separator` stands between; undefined where a column has no days or times. */
export function patternRecord(pattern: DatePattern, separator: number, { code }: ColumnPlan): Uint8Array | undefined {
  if (code !== valueCode.date && code !== valueCode.timestamp) return undefined
  const steps = patternSteps(pattern)
  const isPlain = steps.every((step, at) => {
    if (at % 2 === 0) return step <= layout.stepOfDigits
    const isOfText = step >= 0x20 && step < 0x7f && step !== separator && step !== quote
    return steps[at - 1] !== layout.stepOfByte || isOfText
  })
  // White space at the ends is not of a cell, whatever a pattern says.
  const isOpen = steps[0] !== layout.stepOfByte && steps.at(-2) !== layout.stepOfByte
  const isWhole = pattern.hasDay && pattern.hasTime === (code === valueCode.timestamp)
  const record = new Uint8Array(layout.patternBytes)
  record.set(utf8(`${plainInstant.slice(0, instantSpan(pattern)[1])}\n`))
  record.set(isPlain && isOpen && isWhole ? steps : unread, layout.patternHead)
  return record
}
