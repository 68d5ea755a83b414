// A report as lines of plain text, for terminals and for paper: the same order and words in every program.

import { cleanText } from '../base/clean-text.ts'
import { type Line, type Report, type ShownRows, toneOf } from './report.ts'

const marks = { good: '✓', bad: '✗', open: '?' } as const
const cellChars = 40
const tableChars = 100

/** Without control characters. `verbose`: hashes, too. */
export function reportLines(
  report: Report,
  { file, verbose = false }: { readonly file?: string; readonly verbose?: boolean },
): string[] {
  const { headline, what, why, about, rows, signed, when, checked, open, remarks, hashes } = report
  const text = [
    `${marks[toneOf(report)]} ${headline}`,
    `  ${file === undefined ? what : `${file}: ${what}`}`,
    ...why.map((sentence) => `  ${sentence}`),
    ...(rows === undefined ? [] : section(rowsTitle(rows), rowLines(rows))),
    ...section('What it is about', pairLines(about)),
    ...section('Who signed', pairLines(signed)),
    ...section('When', pairLines(when)),
    ...section(
      'Checked',
      checked.map((one) => `  - ${one}`),
    ),
    ...section(
      'Not checked',
      open.map((one) => `  - ${one}`),
    ),
    ...section(
      'Remarks',
      remarks.map((one) => `  - ${one}`),
    ),
    ...(verbose ? section('Hashes', pairLines(hashes)) : []),
  ]
  return text.map((line) => cleanText(line))
}

/** `Rows (the first 20 of 1707)`. */
export function rowsTitle({ rows, total }: ShownRows): string {
  return rows.length === total ? `Rows (${total})` : `Rows (the first ${rows.length} of ${total})`
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines]
}

const lengthOf = (text: string): number => Array.from(text).length
const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - lengthOf(text)))

function pairLines(pairs: readonly Line[]): string[] {
  const width = Math.max(0, ...pairs.map(([name]) => lengthOf(name)))
  return pairs.map(
    ([name, text]) => `  ${name === '' ? text : `${padded(name, width)}  ${text.replace(/\r?\n/g, ' ')}`}`,
  )
}

function rowLines({ columns, rows }: ShownRows): string[] {
  const all = [...(columns.length === 0 ? [] : [columns]), ...rows].map((row) => row.map(cut))
  const widths = (all[0] ?? []).map((_, at) => Math.max(...all.map((row) => lengthOf(row[at] ?? ''))))
  let fits = 0
  for (let used = 2; fits < widths.length; fits++) {
    used += (widths[fits] ?? 0) + 2
    if (used > tableChars && fits > 0) break
  }
  const lines = all.map((row) =>
    `  ${widths
      .slice(0, fits)
      .map((width, at) => padded(row[at] ?? '', width))
      .join('  ')}`.trimEnd(),
  )
  return fits === widths.length ? lines : [...lines, `  … and ${widths.length - fits} more columns`]
}

function cut(cell: string): string {
  const characters = Array.from(cell.replace(/[\r\n\t]+/g, ' '))
  return characters.length <= cellChars ? characters.join('') : `${characters.slice(0, cellChars - 1).join('')}…`
}
