// Errors of a workbook: each names the file in the zip, or the sheet and the cell.

import type { NodeError } from '../../libraries/base/errors.ts'
import { malformedFile, type ZipHints } from '../../libraries/formats/zip.ts'

const damaged = 'Open the workbook in a program for spreadsheets, and save it again as .xlsx.'

export const zipHints: ZipHints = {
  whole: 'Send the .xlsx as the program wrote it.',
  damaged,
  tooLarge: 'Send the sheet in several workbooks, or as CSV.',
}

/** The error for a file of the workbook that is not what its name says. */
export function malformed(file: string, what: string, hint = damaged): NodeError {
  return malformedFile(file, what, hint)
}

/** The letters of a column, 0-based. */
export function columnLetters(column: number): string {
  const letters = column < 26 ? '' : columnLetters(Math.floor(column / 26) - 1)
  return letters + String.fromCharCode(0x41 + (column % 26))
}

/** A cell as formulas of other sheets name it: `Sales!C7`. Column and row are 0-based. */
export function cellName(sheet: string, column: number, row: number): string {
  const name = /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(sheet) ? sheet : `'${sheet.replaceAll("'", "''")}'`
  return `${name}!${columnLetters(column)}${row + 1}`
}
