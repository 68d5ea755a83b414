// What this format is, without its code, which is loaded for the first body of it.

import type { FileFacts } from '../format.ts'

export const parquetFacts: FileFacts = {
  kind: 'file',
  name: 'parquet',
  title: 'Parquet',
  mediaTypes: ['application/vnd.apache.parquet', 'application/parquet'],
  extensions: ['parquet', 'geoparquet'],
  about: 'one file, GeoParquet too',
}
