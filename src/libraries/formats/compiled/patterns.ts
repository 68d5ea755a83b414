// Patterns of days and times as the module reads them: an instant in text, then what stands in a cell, byte for byte, and where each
// digit goes. What has words, offsets or years of two digits is left to the TypeScript reader.

import { utf8 } from '../../base/bytes.ts'
import { type DatePattern, placeOf, plainInstant, textSpan } from '../dialect/date-pattern.ts'
import { quote } from '../json/text.ts'
import * as layout from './layout.ts'

type Field = DatePattern['fields'][number]

/** The record of a pattern for cells that `separator` stands between; undefined where the module cannot read it. */
export function patternRecord(pattern: DatePattern, separator: number): Uint8Array | undefined {
  const steps = pattern.fields.map((field) => stepsOf(field, separator))
  // White space at the ends is not of a cell, whatever a pattern says.
  if (pattern.fields[0]?.kind === 'text' || pattern.fields.at(-1)?.kind === 'text') return undefined
  const text = utf8(`${plainInstant.slice(0, textSpan(pattern)[1])}\n`)
  const record = new Uint8Array(layout.patternBytes)
  record.set(text)
  let at = layout.patternHead
  for (const step of steps) {
    if (step === undefined) return undefined
    record.set(step, at)
    at += step.length
  }
  return record
}

function stepsOf(field: Field, separator: number): readonly number[] | undefined {
  switch (field.kind) {
    case 'text': {
      const isPlain = field.bytes.every((byte) => byte >= 0x20 && byte < 0x7f && byte !== separator && byte !== quote)
      return isPlain ? [...field.bytes].flatMap((byte) => [layout.stepOfByte, byte]) : undefined
    }
    case 'number': {
      const [at, digits] = placeOf[field.unit]
      if (field.unit === 'half hour' || field.most !== digits) return undefined
      return field.least < field.most ? [layout.stepOfDigits, at] : digitSteps(at, digits)
    }
    case 'fraction':
      return digitSteps(placeOf.fraction[0], field.digits)
    default:
      return undefined
  }
}

function digitSteps(at: number, digits: number): readonly number[] {
  return Array.from({ length: digits }, (_, digit) => [layout.stepOfDigit, at + digit]).flat()
}
