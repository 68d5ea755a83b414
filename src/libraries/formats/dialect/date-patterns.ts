// Which patterns read all texts of a column as existing days or times. None has a zone.

import { utf8 } from '../../base/bytes.ts'
import { classOfTimeText, valueClass } from '../inference.ts'
import { DateReader, datePattern } from './date-pattern.ts'

/** In order of likelihood; of two that read a text alike, the one that takes less comes first. */
const days =
  'dd.MM.yyyy d.M.yyyy dd/MM/yyyy MM/dd/yyyy d/M/yyyy M/d/yyyy yyyy/MM/dd yyyy/M/d dd-MM-yyyy MM-dd-yyyy d-M-yyyy M-d-yyyy ' +
  'yyyy.MM.dd dd-MMM-yyyy d-MMM-yyyy yyyyMMdd'
const clocks = ['HH:mm:ss,SSS', 'H:mm', 'H:mm:ss', 'hh:mm a', 'h:mm a', 'hh:mm:ss a', 'h:mm:ss a']
/** Those that RFC 3339 has too. */
const isoClocks = ['HH:mm', 'HH:mm:ss', 'HH:mm:ss.SSS']
const glued = ['yyyyMMddHH', 'yyyyMMddHHmm', 'yyyyMMddHHmmss']
const longest = 40
const timeClasses = valueClass.date | valueClass.time | valueClass.zonelessTime

interface Candidate {
  readonly pattern: string
  readonly reader: DateReader
}

/** By the shapes of the texts that they read. Made when they are first wanted. */
let known: ReadonlyMap<string, readonly Candidate[]> | undefined

function candidates(): ReadonlyMap<string, readonly Candidate[]> {
  const joined = days.split(' ').flatMap((day) => [day, ...[...isoClocks, ...clocks].map((clock) => `${day} ${clock}`)])
  const all = [...joined, ...clocks.map((clock) => `yyyy-MM-dd ${clock}`), ...glued].flatMap((pattern) => {
    const read = datePattern(pattern)
    return 'fields' in read ? [{ pattern, reader: new DateReader(read) }] : []
  })
  const digits = (pattern: string): string => pattern.replaceAll(/MMM|a/g, '\0').replaceAll(/[A-Za-z]+/g, '9')
  return Map.groupBy(all, ({ pattern }) => shapeOf(digits(pattern).replaceAll('\0', 'a')))
}

/** Runs of digits as 9, of letters as a. */
function shapeOf(text: string): string {
  return text.replaceAll(/\d+/g, '9').replaceAll(/[A-Za-z]+/g, 'a')
}

/** The patterns that read each of the texts, the likeliest first; of those that differ only in leading zeros, the first. */
export function datePatternsOf(texts: readonly string[]): readonly string[] {
  const [first = ''] = texts
  const found = first.length > longest ? undefined : (known ??= candidates()).get(shapeOf(first))
  if (found === undefined) return []
  const cells = texts.map(utf8)
  const patterns = found
    .filter(({ reader }) => cells.every((cell) => isRead(reader, cell)))
    .map(({ pattern }) => pattern)
  const loose = patterns.map((pattern) => pattern.replaceAll(/\b([dMHh])\1\b/g, '$1'))
  return patterns.filter((_, at) => loose.indexOf(loose[at] ?? '') === at)
}

function isRead(reader: DateReader, cell: Uint8Array): boolean {
  return (
    reader.read(cell, 0, cell.length) && (classOfTimeText(reader.bytes, reader.start, reader.end) & timeClasses) !== 0
  )
}
