// The header of a sheet: its first row that has cells, judged and named as the first line of CSV is.

import { Buffer } from 'node:buffer'
import { utf8 } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { cellSigns, commas, CsvCells } from '../../libraries/formats/csv/cells.ts'
import {
  headerDoubt,
  type HeaderFacts,
  type HeaderName,
  headerNames,
  judgeHeader,
  positionName,
} from '../../libraries/formats/csv/header.ts'
import { RecordPlace } from '../../libraries/formats/fault-log.ts'
import type { CsvHeader } from '../../libraries/formats/format.ts'
import { excelFacts } from './facts.ts'
import { cellName } from './faults.ts'
import type { Cell } from './sheet.ts'

/** What a header is judged by. */
export interface TableFacts extends HeaderFacts {
  readonly sheet: string
  /** Names of the columns that the dataset has. */
  readonly columns: readonly string[]
}

export interface Header {
  readonly kind: CsvHeader
  /** Column of the first cell that counts, 0-based. */
  readonly first: number
  /** One a column from there on; without a header as many as the row has. */
  readonly names: readonly HeaderName[]
}

/** A cell with bytes of its own. */
export function kept({ kind, column, bytes, start, end }: Cell): Cell {
  return { kind, column, bytes: new Uint8Array(bytes.subarray(start, end)), start: 0, end: end - start }
}

export function textOf({ bytes, start, end }: Cell): string {
  return Buffer.from(bytes.subarray(start, end)).toString()
}

/** What the first row is; `said` by the media type. Throws NodeError `RecordsDoNotFit` where it may be either. */
export function headerOf(
  cells: readonly Cell[],
  row: number,
  { sheet, said, columns, ...facts }: TableFacts & { readonly said: CsvHeader | undefined },
): Header {
  const leading = cells[0]?.column ?? 0
  // One column without a name may be that of an index, if the dataset has it; others are the margin of the table.
  const isIndex = leading <= 1 && (!facts.hasColumns || facts.isName(positionName(0)))
  const first = isIndex ? 0 : leading
  const line = utf8(lineOf(cells, first))
  const split = new CsvCells(cellSigns({ separator: commas, mediaType: '' }))
  split.split(line, 0, line.length)
  const kind = said ?? judgeHeader(split, facts)
  const broken = kind === 'absent' ? undefined : cells.find((cell) => cell.kind === 'fault')
  if (broken !== undefined) {
    const at = cellName(sheet, broken.column, row)
    throw new NodeError('RecordsDoNotFit', `${at}: ${textOf(broken)}. Nothing was stored.`)
  }
  if (kind === 'present') return { kind, first, names: headerNames(split, facts.isName) }
  if (kind === 'absent') {
    // An empty cell of a record is one, too.
    const places = Array.from({ length: (cells.at(-1)?.column ?? 0) + 1 }, (_, cell) => positionName(cell))
    return { kind, first: 0, names: places.map((name) => ({ name, folded: name, isEmpty: false })) }
  }
  const about = { bytes: line, end: line.length, place: new RecordPlace(), mediaType: excelFacts.mediaTypes[0] }
  const { message, details } = headerDoubt(split, kind.doubt, { ...about, columns })
  // The line is one that nobody sent.
  const errors = (details.errors ?? []).map(({ line: _line, byteOffset: _offset, ...fault }) => fault)
  const at = cellName(sheet, first + kind.doubt, row)
  throw new NodeError('RecordsDoNotFit', `${at}: ${message}`, { ...details, errors })
}

/** The cells from a column on as a line of CSV. */
function lineOf(cells: readonly Cell[], first: number): string {
  const texts: string[] = []
  for (const cell of cells) {
    while (texts.length < cell.column - first) texts.push('')
    texts.push(`"${textOf(cell).replaceAll('"', '""')}"`)
  }
  return texts.join(',')
}
