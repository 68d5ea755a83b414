// CSV and TSV as formats of ingest: a record is a line of cells; the first may be a header (header.ts).

import { dialectNames } from '../dialect/dialect.ts'
import type { StreamFormat } from '../format.ts'
import { cellSigns, commas, type Separator, tabs } from './cells.ts'
import { cellEnds } from './ends.ts'
import { CsvInferrer } from './inferrer.ts'
import { CsvReader } from './reader.ts'

export const csv = separatedBy(commas, {
  name: 'csv',
  title: 'CSV',
  mediaTypes: ['text/csv'],
  extensions: ['csv', 'txt', 'dat'],
  about: 'RFC 4180',
  example: 'event_time,sensor,celsius\n2026-01-31T12:00:00Z,s1,21.5\n',
})

export const tsv = separatedBy(tabs, {
  name: 'tsv',
  title: 'TSV',
  mediaTypes: ['text/tab-separated-values'],
  extensions: ['tsv', 'tab'],
  about: 'as CSV, with tabs between cells',
  example: 'event_time\tsensor\tcelsius\n2026-01-31T12:00:00Z\ts1\t21.5\n',
})

function separatedBy(
  separator: Separator,
  words: Pick<StreamFormat, 'name' | 'title' | 'mediaTypes' | 'extensions' | 'about' | 'example'>,
): StreamFormat {
  const cells = { separator, mediaType: words.mediaTypes[0] ?? '' }
  return {
    kind: 'stream',
    module: import.meta.url,
    ...words,
    isLines: true,
    hasHeader: true,
    parameters: ['charset', ...dialectNames],
    ends: (header, dialect) => cellEnds(cellSigns(cells, dialect), header),
    createReader: (options) => new CsvReader(options, cells),
    createInferrer: (options) => new CsvInferrer(options, cells),
  }
}
