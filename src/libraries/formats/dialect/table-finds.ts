// Where the table of a body lies, by its first lines: what stands between cells, which lines before, in and after it are no rows, and
// whether it has a header.

import { defined } from '../../base/collections.ts'
import { foldAscii } from '../../model/names.ts'
import { type DataType, type Field, innerType, type Vocabulary } from '../../model/schema.ts'
import { inputNames } from '../column-plan.ts'
import {
  type CellSigns,
  cellSigns,
  cellTexts,
  commas,
  CsvCells,
  CsvFramer,
  isBlankLine,
  type Separator,
  tabs,
} from '../csv/cells.ts'
import { headerNames, judgeHeader, positionName } from '../csv/header.ts'
import { separatorOfLine } from '../csv/other-separator.ts'
import { type Column, columnsOf, type Given, isValued, nullWords, type Parameters } from './column-values.ts'
import { dialectOf } from './dialect.ts'

const sampleBytes = 32 * 1024
/** As many are looked at; the head is read to its end when an offer is tried. */
const mostCells = 10_000
const mostTitles = 100
const mostUnits = 3
const delimiters = [';', '\t', '|', ',']
const numeric = /^\s*(?:[-+]?\d[\d.,:/ -]*)?$/

/** mm, Deg C, meters/second, W/m2, [°C]. */
const unitForm = /^(?:\D{1,6}|\p{L}{1,4}\d|[\p{L}\d°%µ*²³()[\]^. -]*[/°%²³()[\]][\p{L}\d°%µ/*²³()[\]^. -]*)$/u

/** A record, in `bytes[start, end)`. */
interface Place {
  readonly line: number
  readonly lastLine: number
  readonly start: number
  readonly end: number
}

interface Row extends Place {
  /** None where they cannot be told apart. A word for no value that is quoted has its quotes. */
  readonly texts: readonly string[]
  readonly isAfterBlank: boolean
}

/** A table, and the parameters that say where it lies. */
interface Table {
  readonly parameters: Parameters
  readonly columns: readonly Column[]
}

/** What is known of a body beside its first bytes. */
export interface HeadFacts {
  readonly format: 'csv' | 'tsv'
  /** Parameters of the request, as it says them. */
  readonly given: Given
  /** Nothing comes after the head. */
  readonly isWhole: boolean
  /** Those that the dataset has, the event time where it declares it. */
  readonly columns?: readonly Field[]
  readonly vocabulary: Vocabulary
  readonly eventTimeType?: DataType
  readonly limits: { readonly recordBytes: number; readonly columns: number }
}

export function separatorOf({ format }: Pick<HeadFacts, 'format'>): Separator {
  return format === 'csv' ? commas : tabs
}

/** The records of a text; the last one, which may go on, only if the text is whole. */
export function* recordsOf(text: Uint8Array, signs: CellSigns, isWhole: boolean): Generator<Place> {
  const framer = new CsvFramer(signs)
  for (let at = 0; ;) {
    const start = framer.begin(text, at)
    const { line } = framer
    const end = start < 0 ? -1 : framer.end(text, start)
    if (start < 0 || (end < 0 && !isWhole)) return
    yield { line, lastLine: framer.line, start, end: end < 0 ? text.length : end }
    if (end < 0) return
    framer.line += 1
    at = end + 1
  }
}

/** The tables that a text may be: several where its first line may be a header or a row. Throws NodeError `InvalidParameter`. */
export function tablesOf(text: Uint8Array, facts: HeadFacts): readonly Table[] {
  const { given, isWhole } = facts
  const dialect = dialectOf(given) ?? {}
  const format = { separator: separatorOf(facts), mediaType: '' }
  const firstEnd = text.indexOf(0x0a)
  const said = separatorOfLine(text, 0, firstEnd < 0 ? text.length : firstEnd, dialect)
  const current = String.fromCharCode((said ?? cellSigns(format, dialect).separator).byte)
  const sample = Buffer.from(text.subarray(0, sampleBytes)).toString('latin1')
  const [noted = [], lines = []] = linesOf(sample, dialect.quote ?? '"')
  const rated = [current, ...(said === undefined ? delimiters : [])].map((one) => signOf(lines, one))
  const { delimiter, count } = rated.reduce((one, other) => (other.rate > one.rate ? other : one))
  const isNoted = noted.length < lines.length && noted.some((line) => line.split(delimiter).length !== count)
  const comment = dialect.comment ?? (isNoted ? '#' : undefined)
  const signs = cellSigns(format, { ...dialect, ...defined({ comment }), delimiter, trim: true })
  const rows = rowsOf(text, signs, count, isWhole).slice(said === undefined ? 0 : 1)
  const at = rows.findIndex(
    ({ texts }) => texts.length === count && (count < 3 || texts.filter((one) => one !== '').length > 1),
  )
  const [header, ...body] = rows.slice(at)
  if (at < 0 || at > mostTitles || header === undefined) return []
  const padding = new RegExp(`(?:^|[\\n${escaped(delimiter)}]) +"|" +(?:[\\r\\n${escaped(delimiter)}]|$)`)
  const names = Buffer.from(text.subarray(header.start, header.end)).toString('latin1').trimEnd().split(delimiter)
  const isPadded = padding.test(sample) || names.some((name) => /^ +[^" ]|[^" ] +$/.test(name))
  const cells = new CsvCells(signs)
  cells.split(text, header.start, header.end)
  const found = {
    ...(delimiter !== current && { delimiter: delimiter === '\t' ? 'tab' : delimiter }),
    ...(dialect.comment === undefined && defined({ comment })),
    ...(isPadded && dialect.trim !== true && { trim: 'true' }),
  }
  const tables = tablesIn({ header, body, cells, isBelow: at > 0 }, facts)
  return tables.map((table) => ({ ...table, parameters: { ...found, ...table.parameters } }))
}

/** Those that may be comments, and the others. What is quoted is left out. */
function linesOf(sample: string, quote: string): readonly string[][] {
  const quoted = new RegExp(`(?<=(?:^|[\\n,;\\t|]) ?)${escaped(quote)}[^${escaped(quote)}]*${escaped(quote)}`, 'g')
  const all = (quote === '' ? sample : sample.replaceAll(quoted, 'x')).split('\n').map((line) => line.replace('\r', ''))
  const lines = (sample.length < sampleBytes ? all : all.slice(0, -1)).filter((line) => line.trim() !== '')
  return [true, false].map((isNote) => lines.filter((line) => line.startsWith('#') === isNote))
}

/** A character of ASCII in a regular expression. */
function escaped(sign: string): string {
  return `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`
}

interface Sign {
  readonly delimiter: string
  /** Cells of most lines. */
  readonly count: number
  readonly rate: number
}

/** How well a delimiter makes a table: lines of as many cells, with values in them, and few others around. */
function signOf(lines: readonly string[], delimiter: string): Sign {
  const counts = lines.map((line) => line.split(delimiter).length)
  const many = Map.groupBy(
    counts.filter((one) => one > 1),
    (one) => one,
  )
  const [count = 1, same = []] = [...many].toSorted(([, one], [, other]) => other.length - one.length)[0] ?? []
  if (same.length < 2) return { delimiter, count: 1, rate: 0 }
  const span = counts.lastIndexOf(count) - counts.indexOf(count) + 1
  const cells = lines.filter((_, at) => counts[at] === count).flatMap((line) => line.split(delimiter))
  const values = cells.filter((cell) => numeric.test(cell)).length / cells.length
  const whole = same.length === lines.length ? 2 : 1
  return { delimiter, count, rate: whole * (same.length / span) * (1 + same.length / lines.length) * (1 + values) }
}

/** The first rows, and of the others those that have not `count` cells, each with the row after it. */
function rowsOf(text: Uint8Array, signs: CellSigns, count: number, isWhole: boolean): readonly Row[] {
  const cells = new CsvCells(signs)
  const rows: Row[] = []
  let [left, isAfterBlank] = [mostCells, false]
  for (const place of recordsOf(text, signs, isWhole)) {
    const isBlank = isBlankLine(text, place.start, place.end)
    const isSplit = !isBlank && cells.split(text, place.start, place.end) === undefined
    const shown = (one: string, at: number): string => (cells.quoted[at] !== 0 && nullWords.has(one) ? `"${one}"` : one)
    const isOdd = !isSplit || cells.count !== count || rows.at(-1)?.texts.length !== count
    if (!isBlank && (left > 0 || isOdd)) {
      rows.push({ ...place, texts: isSplit ? cellTexts(cells).map(shown) : [], isAfterBlank })
      left -= cells.count
    }
    isAfterBlank = isBlank
    if (left < -mostCells) break
  }
  return rows
}

interface Lines {
  readonly header: Row
  /** What comes after the header. */
  readonly body: readonly Row[]
  /** The header, split. */
  readonly cells: CsvCells
  /** There are other lines above. */
  readonly isBelow: boolean
}

function tablesIn({ header, body, cells, isBelow }: Lines, facts: HeadFacts): readonly Table[] {
  const { length } = header.texts
  const end = body.findLastIndex(({ texts }) => texts.length === length) + 1
  const [rows, after] = [body.slice(0, end), body.slice(end)]
  if (end === 0 || rows.some(({ texts }) => texts.length !== length)) return []
  const isText = new Set(
    (facts.columns ?? []).filter(({ type }) => innerType(type).kind === 'String').map(({ name }) => foldAscii(name)),
  )
  const first = rows.findIndex(({ texts }) => texts.some((text) => kindOf(text) > 1))
  const few = first > mostUnits ? 0 : Math.max(0, first)
  const valued = few > 0 || after.length > 0 ? columnsOf(header.texts, rows.slice(few), isText).map(isValued) : []
  const units = rows.slice(0, few).filter(({ texts }) => isUnits(texts, valued))
  if (after.length > 0 && !(facts.isWhole && isNote(after[0], valued[0] === true))) return []
  const data = rows.filter((row) => !units.includes(row))
  return headsOf(header, data[0], facts, cells).map(({ say, names, isRow, isSkipped }) => {
    const before = isSkipped ? header.line : isBelow ? header.line - 1 : 0
    return {
      parameters: { ...say, ...skipped(before, [units, after], facts.given) },
      columns: columnsOf(names, isRow ? [header, ...data] : data, isText),
    }
  })
}

/** 0: no value, 1: text, 2: a number, 3: a day or a time. */
function kindOf(text: string): number {
  if (text === '' || nullWords.has(text)) return 0
  if (!numeric.test(text)) return 1
  return /\d[-./]\d{1,2}[-./]\d|:/.test(text) ? 3 : 2
}

/** Whether a row has text in columns of values, and in no other. */
function isUnits(texts: readonly string[], valued: readonly boolean[]): boolean {
  const said = valued.filter((_, cell) => kindOf(texts[cell] ?? '') > 0)
  return said.length > 0 && !said.includes(false) && texts.every((text) => kindOf(text) === 0 || unitForm.test(text))
}

/** Whether a line stands below a table, and is not the beginning of a row. */
function isNote(row: Row | undefined, isFirstValued: boolean): boolean {
  const [first = '', ...others] = row?.texts ?? []
  const isOther = row?.isAfterBlank === true || !/[\p{L}\p{N}]/u.test(first) || (isFirstValued && kindOf(first) < 2)
  return isOther && others.every((text) => text === '')
}

/** What the first line is: a header, or a row, or to be left out. */
interface Head {
  readonly say: Parameters
  readonly names: readonly string[]
  readonly isRow?: true
  readonly isSkipped?: true
}

function headsOf(
  { texts }: Row,
  first: Row | undefined,
  { given, columns: had = [], vocabulary }: HeadFacts,
  cells: CsvCells,
): readonly Head[] {
  const columns = new Set([...inputNames({ vocabulary }), ...had.map(({ name }) => name)].map(foldAscii))
  const isName = (folded: string): boolean => columns.has(folded)
  const named = headerNames(cells, isName)
  const said = given['header']
  const verdict = said ?? judgeHeader(cells, { isName, takesText: true, hasColumns: had.length > 0 })
  const absent = { say: { header: 'absent' }, names: named.map((_, cell) => had[cell]?.name ?? positionName(cell)) }
  if (verdict === 'absent') return [{ ...absent, say: {}, isRow: true }]
  const values = texts.filter((text) => kindOf(text) > 1)
  const isRepeated = new Set(named.map(({ folded }) => folded)).size < named.length
  if (isRepeated && values.length === 0) return [{ ...absent, isSkipped: true }]
  const present = { say: verdict === 'present' ? {} : { header: 'present' }, names: named.map(({ name }) => name) }
  const isLikeRow = texts.every((text, cell) => {
    const kinds = [kindOf(text), kindOf(first?.texts[cell] ?? '')]
    return kinds[0] === kinds[1] || kinds.includes(0)
  })
  if (!isRepeated && (said !== undefined || values.length === 0)) return [present]
  // Years may be names.
  const isYears = !isRepeated && values.every((text) => /^(?:19|20)\d\d$/.test(text))
  if (!isRepeated && !isLikeRow) return isYears ? [present] : []
  return [{ ...absent, isRow: true }, ...(isYears ? [present] : [])]
}

/** The first `lead` lines, and others by their numbers, in the words of `skipRows`. */
function skipped(lead: number, others: readonly (readonly Row[])[], { skipRows = '0' }: Given): Parameters {
  const said = Number(skipRows)
  const ranges = others.flatMap((rows) => (rows.length === 0 ? [] : [`${rows[0]?.line}-${rows.at(-1)?.lastLine}`]))
  if (Number.isNaN(said) || (lead === 0 && ranges.length === 0)) return {}
  const before = Math.max(lead, said)
  if (ranges.length === 0) return { skipRows: String(before) }
  return { skipRows: [...(before > 0 ? [`1-${before}`] : []), ...ranges].join(',') }
}
