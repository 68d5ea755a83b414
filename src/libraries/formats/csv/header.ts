// Whether the first record of a body of cells is a header, and what its cells name. A body that does not say so in its media type
// is never guessed into rows by position: what may be either is in doubt, and refused.

import { NodeError, type RecordErrorKind } from '../../base/errors.ts'
import { foldAscii } from '../../model/names.ts'
import { reservedName, type TablePlan } from '../column-plan.ts'
import { excerptOf, FaultLog, type RecordPlace, unknownFieldMessage } from '../fault-log.ts'
import { booleanOf, classOfTimeText, trimEnd, trimStart, valueClass } from '../inference.ts'
import { notFinite, NumberScan, scanNumber } from '../number-scan.ts'
import type { CsvHeader, ReaderOptions } from '../format.ts'
import { cellTexts, type CsvCells } from './cells.ts'

/** What a first record is told by. */
export interface HeaderFacts {
  /** True for the folded names of columns, and of system columns. */
  readonly isName: (folded: string) => boolean
  /** The dataset has columns, and one of them takes any text. */
  readonly takesText: boolean
  /** The dataset has columns. */
  readonly hasColumns: boolean
}

/** `doubt`: the cell that speaks against a header, or, where nothing does, the first. */
export type HeaderVerdict = CsvHeader | { readonly doubt: number }

/** What the record last split is. */
export function judgeHeader(cells: CsvCells, facts: HeaderFacts): HeaderVerdict {
  const { isName, takesText, hasColumns } = facts
  const names = headerNames(cells, isName)
  const isKnown = names.map(({ folded }) => isName(folded))
  const against = firstNonName(cells, names, { isKnown, hasColumns })
  if (!hasColumns || isKnown.includes(true)) return against < 0 ? 'present' : { doubt: against }
  // An empty cell speaks against a header, and not for a row: programs leave a name out.
  if (against >= 0)
    return names.every(({ isEmpty }) => isEmpty) || holdsValue(cells, names) ? 'absent' : { doubt: against }
  // Only its names speak for a header, and these are all new.
  return takesText ? { doubt: 0 } : 'present'
}

/** A cell of a header: the name as it is written, or, of an empty cell, as its place would have it without a header. */
export interface HeaderName {
  readonly name: string
  readonly folded: string
  readonly isEmpty: boolean
}

/** The names of the record last split; white space around one counts only where no column is called like the rest. */
export function headerNames(cells: CsvCells, isName: (folded: string) => boolean): readonly HeaderName[] {
  return cellTexts(cells).map((text, cell) => {
    const trimmed = text.trim()
    const isEmpty = trimmed === ''
    const isTrimmed = !isName(foldAscii(text)) && isName(foldAscii(trimmed))
    const name = isEmpty ? positionName(cell) : isTrimmed ? trimmed : text
    return { name, folded: foldAscii(name), isEmpty }
  })
}

/** The name of a column that only its place tells. */
export function positionName(cell: number): string {
  return `column_${cell + 1}`
}

/** A cell that belongs to no column and may hold anything. */
export const ignoredCell = -1
/** A cell that belongs to no column and must be empty. */
export const valuelessCell = -2

/** What is wrong with a cell of a header. */
type NameFault = { readonly kind: RecordErrorKind; readonly message: string; readonly column: string }
type LayoutOptions = Pick<ReaderOptions, 'valueless' | 'unknownFields'>

/** The column that each cell of a header names; `fault` is handed those that name none. */
export function headerColumns(
  names: readonly HeaderName[],
  { byName }: Pick<TablePlan, 'byName'>,
  { valueless, unknownFields }: LayoutOptions,
  fault: (cell: number, fault: NameFault) => void,
): number[] {
  const withoutValue = valueless && new Set(valueless.map(foldAscii))
  const seen = new Set<string>()
  return names.map(({ name, folded, isEmpty }, cell) => {
    const column = byName.get(folded)
    const isValueless = withoutValue?.has(folded) === true
    const isIgnored = unknownFields === 'ignore' && !isValueless
    const note = (kind: RecordErrorKind, message: string): void => fault(cell, { kind, message, column: name })
    if (seen.has(folded)) note('DuplicateField', `The header names '${name}' twice; letter case does not count.`)
    else if (column === reservedName) note('ReservedColumn', `'${name}' is a system column; the node fills it.`)
    else if (column === undefined && !isValueless && !isIgnored && !isEmpty)
      note('UnknownField', unknownFieldMessage(name, withoutValue))
    seen.add(folded)
    // What has no name may stand there without a value.
    return column ?? (isIgnored ? ignoredCell : valuelessCell)
  })
}

/** Why a cell of a header's column that is none may not have a value. */
export function unknownCellMessage(name: string, { valueless }: Pick<LayoutOptions, 'valueless'>): string {
  return valueless?.includes(name) === true
    ? unknownFieldMessage(name, new Set([foldAscii(name)]))
    : `The header has no name for this cell, and the dataset no column '${name}': name it, or say unknownFields=add.`
}

/**
 * Index of the first cell that no header would have: repeated, a value, or empty; -1 where there is none. Of a body that makes the
 * columns, the first cell may be empty, which programs leave out over an index, and the last ones, where lines end with commas.
 */
function firstNonName(
  cells: CsvCells,
  names: readonly HeaderName[],
  { isKnown, hasColumns }: { readonly isKnown: readonly boolean[]; readonly hasColumns: boolean },
): number {
  const seen = new Set<string>()
  const last = names.findLastIndex(({ isEmpty }) => !isEmpty)
  if (last < 0) return 0
  for (const [cell, { folded, isEmpty }] of names.entries()) {
    const isOdd = isEmpty ? hasColumns || (cell > 0 && cell < last) : isValue(cells, cell)
    if ((isOdd && isKnown[cell] !== true) || seen.has(folded)) return cell
    seen.add(folded)
  }
  return -1
}

/** True where a cell is a value, or stands twice: no header has such cells. */
function holdsValue(cells: CsvCells, names: readonly HeaderName[]): boolean {
  const isRepeated = new Set(names.map(({ folded }) => folded)).size < names.length
  return isRepeated || names.some(({ isEmpty }, cell) => !isEmpty && isValue(cells, cell))
}

const number = new NumberScan()

function isValue(cells: CsvCells, cell: number): boolean {
  const bytes = cells.source(cell)
  const start = trimStart(bytes, cells.starts[cell] ?? 0, cells.ends[cell] ?? 0)
  const end = trimEnd(bytes, start, cells.ends[cell] ?? 0)
  if (scanNumber(number, bytes, start, end, true) && number.end === end) return true
  if (booleanOf(bytes, start, end) !== undefined || notFinite(bytes, start, end) !== undefined) return true
  return (classOfTimeText(bytes, start, end) & (valueClass.text | valueClass.likelyTime)) === 0
}

/** Where the first record lies, and what it is held against. */
export interface Doubted {
  readonly bytes: Uint8Array
  readonly end: number
  readonly place: RecordPlace
  readonly mediaType: string
  /** Names of the columns that the dataset has. */
  readonly columns: readonly string[]
}

/** The refusal of a first record that may be a header or not; `cell` is what makes the doubt. */
export function headerDoubt(cells: CsvCells, cell: number, { bytes, end, place, ...about }: Doubted): NodeError {
  const { mediaType, columns } = about
  const text = excerptOf(cells.source(cell), cells.starts[cell] ?? 0, cells.ends[cell] ?? 0)
  const isRepeated =
    columns.length === 0 &&
    text !== '' &&
    cellTexts(cells).filter((one) => foldAscii(one.trim()) === foldAscii(text)).length > 1
  const message =
    columns.length === 0
      ? `The first line does not read as a header: '${text}' is not a column name, or a repeated one.`
      : `The first line may be a header or a row: ${text === '' ? 'a cell of it is empty' : `'${text}' is not a column of the dataset`}.`
  const faults = new FaultLog()
  const at = cells.rawStarts[cell] ?? 0
  faults.add({ kind: 'MalformedRecord', message, bytes, at, end: Math.min(at + 1, end) }, undefined, place)
  const { details } = faults.toError(false)
  const known = columns.length === 0 ? '' : ` Its columns are ${nameList(columns)}.`
  return new NodeError('RecordsDoNotFit', `${message} Nothing was stored.`, {
    ...details,
    hint: isRepeated
      ? `The line has '${text}' twice: if it is a header, give one of them another name; if it is a row, say header=absent in the media type: ${mediaType}; header=absent.`
      : `Say header=present or header=absent in the media type: ${mediaType}; header=absent.${known}`,
  })
}

function nameList(names: readonly string[]): string {
  const shown = names.slice(0, 10).map((name) => `'${name.slice(0, 40)}'`)
  return `${shown.join(', ')}${names.length > shown.length ? ', …' : ''}`
}
