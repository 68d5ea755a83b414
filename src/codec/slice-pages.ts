// Looks over the page headers of a column chunk before the library reads it, which trusts them: a few damaged bytes could
// ask it for gigabytes. Source: Apache Parquet, parquet.thrift (PageHeader).

import type { RowGroup } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { DecodeError } from '../model/errors.ts'

const what = 'Parquet slice'
/** Values of a column in one row group, items of lists counted; more are not read. */
const maxEntries = 2 ** 25
const maxPageBytes = 2 ** 30

/** Throws DecodeError unless the pages of the group's one chunk lie in the file and add up to its number of values. */
export function checkPages(bytes: Uint8Array, group: RowGroup, isList: boolean): void {
  const meta = group.columns[0]?.meta_data
  if (meta === undefined) return refuse('has a column without metadata')
  const entries = Number(meta.num_values)
  if (!(entries >= 0 && entries <= maxEntries)) refuse(`has a column of ${entries} values in one row group`)
  if (!isList && entries !== Number(group.num_rows)) refuse('has a column whose values are not as many as its rows')
  const start = Number(meta.dictionary_page_offset || meta.data_page_offset)
  const end = start + Number(meta.total_compressed_size)
  if (!(start >= 0 && start <= end && end <= bytes.length)) refuse('has a column that lies outside of the file')
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset + start, end - start), offset: 0 }
  let found = 0
  while (found < entries && reader.offset < end - start) {
    const header = parquetHeader(reader)
    const page = header.data_page_header ?? header.data_page_header_v2
    const count = page?.num_values ?? 0
    const room = header.uncompressed_page_size
    if (!(count >= 0 && room >= 0 && room <= maxPageBytes)) refuse('has a page of impossible size')
    if ((header.dictionary_page_header?.num_values ?? 0) > room) refuse('has a dictionary larger than its page')
    if (!(header.compressed_page_size >= 0)) refuse('has a page of impossible size')
    reader.offset += header.compressed_page_size
    found += count
  }
  if (found !== entries) refuse(`has a column of ${found} values, its footer says ${entries}`)
}

function refuse(reason: string): never {
  throw new DecodeError(what, reason)
}
