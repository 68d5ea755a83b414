// Which column of a dataset that is to be made is the event time, where nobody named one (docs/spec/http.md §6). What is in doubt is
// asked, with each way as parameters: the first block sets it in stone. Pure.

import { utf8 } from '../base/bytes.ts'
import { readInstant, type TimeFault, TimeScan } from '../base/calendar.ts'
import { NodeError } from '../base/errors.ts'
import { foldAscii } from '../model/names.ts'
import { type Field, innerType, timestampMs } from '../model/schema.ts'
import { datePatternsOf } from './dialect/date-patterns.ts'
import type { Inferred, UnreadTimes } from './format.ts'

/** What `eventTime` says where the time of arrival is wanted. */
export const received = 'received'

const dayNames = ['date', 'day']
const namedMost = 10

/** One way to settle it: parameters of ingest; an empty value is for the sender to fill in. */
interface Candidate {
  readonly field: string
  readonly why: string
  readonly parameters: Readonly<Record<string, string>>
  readonly query: string
}

interface Asked {
  readonly timeZone: string | undefined
  /** The format reads days and times by patterns. */
  readonly hasPatterns: boolean
  /** What the event-time column is called; absent: as the body calls it. */
  readonly name?: string
}

/** The columns with the one that is taken as event time, if any. Throws NodeError `SayHow` where that is in doubt. */
export function withEventTime(inferred: Inferred, asked: Asked): Inferred {
  const { added, unread = [] } = inferred
  if (inferred.eventTimePosition !== undefined || inferred.records === 0) return inferred
  const times = added.filter((field) => innerType(field.type).kind === 'Timestamp')
  const [only] = times
  const isWhole = only !== undefined && inferred.sparse?.includes(only.name) !== true
  if (only !== undefined && times.length === 1 && isWhole) return taken(inferred, only, asked)
  if (only !== undefined) throw sayHow(times.map(typedTime), isWhole)
  if (unread.length > 0) throw unreadTimes(unread, asked)
  const days = added.filter((field) => innerType(field.type).kind === 'Date')
  const [day] = days
  if (day === undefined) return inferred
  const isNamed = days.length === 1 && dayNames.includes(foldAscii(day.name)) && !inferred.sparse?.includes(day.name)
  return isNamed ? taken(inferred, day, asked) : warned(inferred, [untakenDay(day)])
}

function taken(inferred: Inferred, field: Field, { name }: Asked): Inferred {
  const about = name === undefined ? '' : ` and is called '${name}'`
  return warned(
    {
      ...inferred,
      fields: inferred.fields.filter((one) => one !== field),
      added: inferred.added.filter((one) => one !== field),
      eventTimeType: innerType(field.type).kind === 'Date' ? { kind: 'Date' } : timestampMs,
      eventTimePosition: inferred.fields.indexOf(field),
      eventTime: field.name,
    },
    [`'${field.name}' is used as the event time${about}; eventTime=${received} takes the time of arrival.`],
  )
}

function warned(inferred: Inferred, more: readonly string[]): Inferred {
  return { ...inferred, warnings: [...(inferred.warnings ?? []), ...more] }
}

function untakenDay({ name }: Field): string {
  return `The column '${name}' holds days, and the event time is when the records were received: eventTime=${name} takes it.`
}

function typedTime({ name }: Field): Candidate {
  return candidate(name, 'its values are times', { eventTime: name })
}

function unreadTimes(unread: readonly UnreadTimes[], asked: Asked): NodeError {
  const ways = unread.flatMap((column) => unreadTime(column, asked))
  if (ways.length > 0) return sayHow(ways, true)
  const [{ name, texts } = { name: '', texts: [] }] = unread
  const error = sayHow([], true, `'${name}' looks like the time of the records, as ${texts[0]?.slice(0, 40)}`)
  const hint = `Send it as 2026-01-31T12:00:00Z, or say eventTime=${received} for the time of arrival.`
  return new NodeError('SayHow', error.message, { ...error.details, hint })
}

/** The question of a column of times that was taken, of which some records have none. */
export function sparseTime(name: string): NodeError {
  return sayHow([candidate(name, 'the arrival stands in for what is missing', { eventTime: name })], false)
}

/** The ways of a column whose texts look like times. */
function unreadTime({ name, texts, isPatterned }: UnreadTimes, { timeZone, hasPatterns }: Asked): readonly Candidate[] {
  const [example = ''] = texts
  const zone = timeZone === undefined ? { timeZone: '' } : {}
  const faults = new Set(texts.map(faultOf))
  const [fault] = faults
  if (faults.size === 1 && (fault === undefined || fault === 'zone-missing')) {
    // These times are ISO: a pattern for all columns does not fit them.
    const said = { eventTime: name, ...(isPatterned && { [`dateFormat.${name}`]: 'iso' }) }
    const needsZone = fault !== undefined && timeZone === undefined
    const why = needsZone ? 'its times have no zone: fill in timeZone' : 'its values are times'
    return [candidate(name, why, { ...said, ...(needsZone && zone) })]
  }
  if (!hasPatterns) return []
  const patterns = datePatternsOf(texts)
  const looks = `its texts look like times: ${example.slice(0, 40)}`
  return (patterns.length === 0 ? [''] : patterns).map((pattern) => {
    const about = pattern === '' ? '; fill in dateFormat' : `, as ${pattern}`
    const more = timeZone === undefined ? `${about}${pattern === '' ? ' and' : '; fill in'} timeZone` : about
    return candidate(name, `${looks}${more}`, { eventTime: name, [`dateFormat.${name}`]: pattern, ...zone })
  })
}

/** Why a text is no time of RFC 3339. */
function faultOf(text: string): TimeFault {
  const bytes = utf8(text)
  return readInstant(new TimeScan(), bytes, 0, bytes.length, false)
}

function candidate(field: string, why: string, parameters: Readonly<Record<string, string>>): Candidate {
  const said = Object.entries(parameters).map((pair) => pair.map(encodeURIComponent).join('='))
  return { field, why, parameters, query: said.join('&') }
}

function sayHow(all: readonly Candidate[], isWhole: boolean, what?: string): NodeError {
  // Names that mean something else as a value of the parameter.
  const ways = all.filter(({ field }) => field !== received && !field.startsWith('/') && !field.includes(','))

  const names = [...new Set(all.map(({ field }) => `'${field}'`))]
  const listed = `${names.slice(0, namedMost).join(', ')}${names.length > namedMost ? ', …' : ''}`
  const arrival = candidate(received, 'the time of arrival; the columns stay as they are', { eventTime: received })
  const about = what ?? (names.length > 1 ? `${listed} may each be the time of the records` : aboutOne(listed, isWhole))
  return new NodeError('SayHow', `${about}, and the first batch settles it. Nothing was stored.`, {
    hint: `Say eventTime=<column>, or eventTime=${received} for the time of arrival. The candidates say what each takes.`,
    ways: [...ways.slice(0, namedMost * 2), arrival],
  })
}

function aboutOne(name: string, isWhole: boolean): string {
  return isWhole ? `${name} looks like the time of the records` : `${name} holds times, and some records have none`
}
