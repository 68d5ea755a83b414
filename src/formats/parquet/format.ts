// Parquet as a format of ingest (docs/spec/http.md §6): the columns of the file, matched by name and cast without loss.

import { ColumnarReader } from '../columnar.ts'
import type { FileFormat } from '../format.ts'
import { openParquet } from './open-parquet.ts'

export const parquet: FileFormat = {
  kind: 'file',
  name: 'parquet',
  title: 'Parquet',
  mediaTypes: ['application/vnd.apache.parquet', 'application/parquet'],
  extensions: ['parquet', 'geoparquet'],
  about: 'one file, GeoParquet too',
  openFile: async (file, options) => new ColumnarReader(await openParquet(file, options)),
}
