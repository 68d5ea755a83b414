// A report on a file of evidence, as `verify` prints it: lines for a person, members for a program.

import { fromPlain, type JsonValue } from '../index.ts'
import { reportLines } from '../libraries/evidence/layout.ts'
import type { Report } from '../libraries/evidence/report.ts'
import { print } from './terminal.ts'

export function printReport(report: Report, options: Parameters<typeof reportLines>[1]): void {
  print(`${reportLines(report, options).join('\n')}\n`)
}

/** The same texts; pairs as lists of two. */
export function reportJson(report: Report): JsonValue {
  return fromPlain(report)
}
