// Parquet as a format of ingest (docs/spec/http.md §6): the columns of the file, matched by name and cast without loss. The
// footer is judged before anything else is read; then rows come in batches, one page per column in memory, whatever the
// size of row groups. Source: https://parquet.apache.org/docs/file-format/

import { durationColumns } from '../../columnar/arrow/ipc-schema.ts'
import type { Limits } from '../../base/limits.ts'
import { NodeError } from '../../base/errors.ts'
import { optional } from '../../model/schema.ts'
import { type FileColumn, fileColumns } from '../../columnar/parquet/file-columns.ts'
import { checkChunk, type Footer, readFooter, type RowGroup } from '../../columnar/parquet/footer.ts'
import { must } from '../../base/assert.ts'
import { damaged, unsupported, UnsupportedParquet } from '../../columnar/parquet/refusals.ts'
import { type ColumnarFile, ColumnarReader, type HeldAsText } from '../columnar.ts'
import type { BodyFile } from '../../columnar/body-file.ts'
import type { FileFormat } from '../format.ts'
import { readBatches } from '../../columnar/foreign-parquet/batches.ts'
import { CellCount, tooManyColumns } from '../../columnar/file-limits.ts'
import { castHint, located, malformed, notRead } from '../../columnar/foreign-parquet/faults.ts'
import { type GeoColumns, geoColumns, geoKey } from '../../columnar/foreign-parquet/geo-columns.ts'
import { calendarKeys, withCalendar } from '../../columnar/foreign-parquet/old-calendar.ts'
import { codecFault, pageSource } from './page-source.ts'
import { demandFewValues } from '../../columnar/foreign-parquet/value-count.ts'
import { parquetFacts } from './facts.ts'

/** Key of the metadata of the file that holds the Arrow schema it was written from. */
const arrowKey = 'ARROW:schema'
const mostFooterBytes = 8 * 1024 * 1024
const mostRowGroups = 10_000
const fewerLeaves = 'Write the file with fewer columns; those inside of structs, lists and maps count one by one.'
/** Levels of nesting of a column. */
const mostDepth = 16

export interface ParquetOptions {
  readonly limits: Pick<Limits, 'columns' | 'recordBytes' | 'inflatedRatio'>
}

/**
 * Opens the Parquet file `file`; columns of codecs and types that are not read here are refused. Throws NodeError:
 * `MalformedBody` for a file that is damaged or lies about itself, `UnsupportedEncoding` for what is sound and not read here
 * (encryption), both with column and row group; `RecordsDoNotFit` for more columns than a dataset can have. Batches throw
 * these too, and `RecordsDoNotFit` for a value that its own column cannot hold, `BodyTooLarge` for pages beyond the memory that is set apart.
 */
export async function openParquet(file: BodyFile, { limits }: ParquetOptions): Promise<ColumnarFile> {
  try {
    const { footer, start } = await footerOf(file, limits.columns)
    const columns = withCalendar(fileColumns(footer.schema, mostDepth), footer)
    if (leavesOf(columns) > limits.columns) throw tooManyColumns(limits.columns, fewerLeaves)
    const { codecs, entries } = checkRowGroups(footer, columns, start)
    const durations = durationsOf(footer.keyValues.get(arrowKey))
    const geo = geoColumns(columns, footer.keyValues.get(geoKey))
    const typed = columns
      .filter(({ field }) => !geo.bounds.has(field.name))
      .map((column) => (geo.forms.has(column.field.name) ? textColumn(column) : column))
    const geometry = typed.findIndex(({ field }) => field.name === geo.primary)
    return {
      fields: typed.map(({ field }) => field),
      rows: footer.rows,
      refused: refusedColumns(typed, { codecs, durations, geo }),
      texts: new Map(
        typed.flatMap(({ isFlat, field }, at): [number, HeldAsText][] => {
          if (geo.forms.has(field.name)) return [[at, 'geometries']]
          return isFlat ? [] : [[at, 'structs, lists or maps']]
        }),
      ),
      ...(geometry < 0 ? {} : { geometry }),
      batches: (places) => {
        const read = places.map((place) => must(typed[place], 'a column of the file'))
        demandFewValues({ columns: read, entries, rows: footer.rows, fileBytes: file.bytes }, limits.inflatedRatio)
        const source = pageSource(file, leavesOf(read))
        const cells = new CellCount(file.bytes, limits.inflatedRatio)
        return readBatches({ footer, columns: typed, geo, source, limits, cells }, places)
      },
    }
  } catch (error) {
    throw located(error, {})
  }
}

interface Refusals {
  /** By the numbers of leaves. */
  readonly codecs: ReadonlyMap<number, NodeError>
  readonly durations: readonly string[]
  readonly geo: GeoColumns
}

function refusedColumns(columns: readonly FileColumn[], of: Refusals): Map<number, NodeError> {
  const refused = new Map<number, NodeError>()
  for (const [index, column] of columns.entries()) {
    const refusal = refusalOf(column, of)
    if (refusal !== undefined) refused.set(index, refusal)
  }
  return refused
}

function refusalOf(
  { field: { name }, leaves }: FileColumn,
  { codecs, durations, geo }: Refusals,
): NodeError | undefined {
  for (const { index, path, leafType } of leaves) {
    if (leafType.refusal !== undefined)
      return notRead({ column: path }, leafType.refusal.reason, leafType.refusal, castHint)
    const codec = codecs.get(index)
    if (codec !== undefined) return codec
  }
  if (durations.includes(name))
    return notRead({ column: name }, 'is a duration, for which no column has a type', undefined, castHint)
  const refusal = geo.refused.get(name)
  return refusal instanceof UnsupportedParquet ? notRead({ column: name }, refusal.reason, refusal) : refusal
}

/** The columns whose integers are durations, or that have such inside, in units that only the writer's Arrow schema knows. */
function durationsOf(arrowSchema: string | undefined): string[] {
  if (arrowSchema === undefined) return []
  try {
    return durationColumns(Uint8Array.from(atob(arrowSchema), (char) => char.charCodeAt(0)))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return damaged(`has an Arrow schema in its metadata that cannot be read (${reason})`)
  }
}

/** A column of geometries holds text. */
function textColumn(column: FileColumn): FileColumn {
  return { ...column, field: { name: column.field.name, type: optional({ kind: 'String' }) } }
}

function leavesOf(columns: readonly FileColumn[]): number {
  let count = 0
  for (const { leaves } of columns) count += leaves.length
  return count
}

/** The footer, and where it begins. */
async function footerOf(file: BodyFile, mostColumns: number): Promise<{ footer: Footer; start: number }> {
  const { bytes } = file
  if (bytes < 12) damaged('is too short for a Parquet file')
  const head = magicOf(await file.at(0, 4))
  const tail = await file.at(bytes - 8, bytes)
  const tailMagic = magicOf(tail.subarray(4))
  if (tailMagic === 'PARE' || head === 'PARE') unsupported('is encrypted, which is not read here')
  if (head !== 'PAR1') damaged('does not begin as a Parquet file does (PAR1)')
  if (tailMagic !== 'PAR1') damaged('does not end as a Parquet file does (PAR1), so that it was probably cut off')
  const length = new DataView(tail.buffer, tail.byteOffset, 4).getUint32(0, true)
  if (length > bytes - 12) damaged('says that its footer is longer than the file')
  if (length > mostFooterBytes) {
    throw new NodeError('BodyTooLarge', `The footer of the file has ${length} bytes.`, {
      limit: { name: 'footerBytes', value: mostFooterBytes, unit: 'bytes' },
      hint: 'Write the file with fewer columns or larger row groups.',
    })
  }
  const start = bytes - 8 - length
  // Nodes between root and leaves count too; a list of one column has two of them.
  const schemaElements = 8 * mostColumns + 1
  return {
    footer: readFooter(await file.at(start, bytes - 8), { rowGroups: mostRowGroups, schemaElements }, [
      geoKey,
      arrowKey,
      ...calendarKeys,
    ]),
    start,
  }
}

function magicOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}

/** What row groups say of leaves, by their numbers: why they cannot be inflated, and how many entries they have in all. */
interface ToldLeaves {
  readonly codecs: ReadonlyMap<number, NodeError>
  readonly entries: readonly number[]
}

/** Throws for row groups that contradict the footer or themselves, before any of them is read. */
function checkRowGroups(footer: Footer, columns: readonly FileColumn[], end: number): ToldLeaves {
  const codecs = new Map<number, NodeError>()
  const entries: number[] = []
  let rows = 0
  for (let index = 0; index < footer.rowGroups; index++) {
    const group = rowGroupAt(footer, index)
    rows += group.rows
    let at = 0
    for (const column of columns) {
      for (const leaf of column.leaves) {
        try {
          const chunk = group.chunks[at++] ?? damaged('is missing')
          checkChunk(chunk, group.rows, leaf, end)
          entries[leaf.index] = (entries[leaf.index] ?? 0) + chunk.values
          const reason = codecFault(chunk.codec)
          if (reason !== undefined) codecs.set(leaf.index, notRead({ column: leaf.path, rowGroup: index }, reason))
        } catch (error) {
          throw located(error, { column: leaf.path, rowGroup: index })
        }
      }
    }
    if (group.chunks.length !== at) {
      throw malformed({ rowGroup: index }, `has ${group.chunks.length} columns, and ${at} in its schema`)
    }
  }
  if (rows !== footer.rows) damaged(`says that it has ${footer.rows} rows, and has ${rows} in its row groups`)
  return { codecs, entries }
}

function rowGroupAt(footer: Footer, index: number): RowGroup {
  try {
    return footer.rowGroup(index)
  } catch (error) {
    throw located(error, { rowGroup: index })
  }
}

export const parquet: FileFormat = {
  ...parquetFacts,
  openFile: async (file, options) => new ColumnarReader(await openParquet(file, options)),
}
