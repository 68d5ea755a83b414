// The name under which the first batch of a dataset brings its event time: what the request says, held against its records.

import { NodeError } from '../../libraries/base/errors.ts'
import { received } from '../../libraries/formats/event-time.ts'
import type { Format, Inferred } from '../../libraries/formats/format.ts'
import { checkColumnName } from '../../libraries/formats/inference.ts'
import { joinedNames } from '../../libraries/formats/joined-times.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { badName } from '../../libraries/model/schema.ts'
import type { Target } from './shape.ts'

/** Whether days and times of a format may have patterns of their own. */
export function hasPatterns({ parameters = [] }: Format): boolean {
  return parameters.includes('dateFormat')
}

/** Throws NodeError `InvalidParameter` where the first records lack the field that shall be the event time for good, or have what shall not be. */
export function demandField({ eventTime, fields, records }: Inferred, asked: string | undefined, own: string): void {
  if (asked === received && eventTime !== undefined)
    throw new NodeError('InvalidParameter', `The records have '${eventTime}', and eventTime says ${received}.`, {
      hint: `Leave eventTime out, or send '${eventTime}' under another name.`,
    })
  const name = namedBy(asked)
  if (name === undefined || eventTime !== undefined || records === 0 || isSame(name, own)) return
  throw new NodeError('InvalidParameter', `The parameter eventTime is '${name.slice(0, 80)}', which no record has.`, {
    hint: 'Name a field of the records: the first batch settles it.',
    candidates: fields.slice(0, 100).map((field) => field.name),
  })
}

/** The column that a control names, as far as it is a name. */
export function namedBy(eventTime: string | undefined): string | undefined {
  const isName = eventTime !== received && !eventTime?.startsWith('/') && joinedNames(eventTime) === undefined
  return isName ? eventTime : undefined
}

/** The target with its event-time column under the name that it has in the body. Throws NodeError `InvalidColumnName`. */
export function namedTime(target: Target, name: string | undefined): Target {
  const { vocabulary } = target
  if (name === undefined || name === vocabulary.eventTimeColumn) return target
  checkColumnName(name)
  const { offsetColumn, operationTypeColumn, systemTimeColumn } = vocabulary
  if (![offsetColumn, operationTypeColumn, systemTimeColumn].some((one) => isSame(one, name)))
    return { ...target, vocabulary: { ...vocabulary, eventTimeColumn: name } }
  throw badName(name, 'is the name of a system column')
}

function isSame(one: string, other: string): boolean {
  return foldAscii(one) === foldAscii(other)
}
