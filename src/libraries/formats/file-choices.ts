// What a caller may choose of an answer that is a file, a row each: schemas, documentation and refusals follow from it. Cells of
// CSV go out as the dialects of ingest read them. Pure.

import { defined } from '../base/collections.ts'
import { NodeError } from '../base/errors.ts'
import type { FileFacts, FileOptions } from '../columnar/outputs/file-format.ts'
import { charsetNamed } from './dialect/charset.ts'
import { demandCharset, dialectOf } from './dialect/dialect.ts'

/** Others are of protocols. */
export type FileChoice = Exclude<keyof FileOptions, 'postgres'>

export const fileChoices: Readonly<Record<FileChoice, { readonly isSwitch?: true; readonly about: string }>> = {
  escapeFormulas: {
    isSwitch: true,
    about: 'Csv: an apostrophe before text that a spreadsheet would read as a formula (default: false).',
  },
  geometry: { about: 'The column with geometry as GeoJSON text; `geometry` by default.' },
  delimiter: { about: 'Csv: the character between cells, such as `;` or `tab` (default: a comma).' },
  decimal: { about: 'Csv: the decimal sign of numbers, `.` (default) or `,`.' },
  charset: { about: 'Csv: the character set, such as `windows-1252` (default: utf-8).' },
  bom: { isSwitch: true, about: 'Csv: a byte order mark at the beginning, of UTF-8 and UTF-16 (default: false).' },
}

const choiceNames = Object.keys(fileChoices) as FileChoice[] // of the table

/** What a caller chose of a file; text in a query string. */
export type AskedFile = { readonly [N in FileChoice]?: boolean | string | undefined }

/** Throws NodeError `InvalidParameter` for a choice that the format does not have, and for one that is none. */
export function readFileOptions(asked: AskedFile, { name, choices }: Pick<FileFacts, 'name' | 'choices'>): FileOptions {
  const other = choiceNames.find((choice) => asked[choice] !== undefined && !choices.includes(choice))
  if (other !== undefined) throw new NodeError('InvalidParameter', `${name} has no ${other}.`)
  const { escapeFormulas, geometry, delimiter, decimal, charset, bom } = asked
  const dialect = dialectOf({ delimiter, decimal })
  const set = charset === undefined ? undefined : demandCharset(String(charset))
  const hasMark = isTrue(bom)
  if (hasMark && set !== undefined && !charsetNamed(set)?.kind.startsWith('utf')) {
    throw new NodeError('InvalidParameter', `${set} has no byte order mark.`, { hint: 'Leave bom or charset out.' })
  }
  return {
    escapeFormulas: isTrue(escapeFormulas),
    geometry: geometry === undefined ? undefined : String(geometry),
    ...defined({ delimiter: dialect?.delimiter, decimal: dialect?.decimal }),
    ...(set !== undefined && set !== 'utf-8' && { charset: set }),
    ...(hasMark && { bom: true }),
  }
}

function isTrue(value: boolean | string | undefined): boolean {
  return value === true || value === 'true'
}
