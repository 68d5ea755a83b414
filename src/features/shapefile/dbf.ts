// The .dbf of a shapefile: its header and columns, judged against the length of the file, and its rows as bytes.
// Sources: https://www.dbase.com/Knowledgebase/INT/db7_file_fmt.htm, https://www.loc.gov/preservation/digital/formats/fdd/fdd000325.shtml

import { NodeError } from '../../libraries/base/errors.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { tooManyColumns } from '../../libraries/columnar/file-limits.ts'
import type { CodePage } from './code-page.ts'
import { shown } from '../../libraries/formats/zip.ts'
import { malformed, type ShapefileLimits } from './faults.ts'
import type { EntryBytes } from './entry-bytes.ts'

const headerBytes = 32
const fieldBytes = 32
/** Names that are longer were cut by their writer. */
const nameBytes = 10
const terminator = 0x0d
const deletedMark = 0x2a

/** A column as the header describes it. */
export interface DbfField {
  readonly name: string
  /** Whether its name ended in the middle of a character. */
  readonly isCut: boolean
  /** Letter of the type. */
  readonly type: string
  /** Where its cells begin in a row, the mark of deletion included. */
  readonly at: number
  /** Size of its cells in bytes. */
  readonly bytes: number
}

/** What the header says before the columns. */
export interface DbfHeader {
  readonly rows: number
  readonly rowBytes: number
  readonly headerBytes: number
  /** Names the code page (`code-page.ts`). */
  readonly language: number
}

/** Reads the fixed part of the header. Throws NodeError `MalformedBody`. */
export async function readDbfHeader(file: EntryBytes): Promise<DbfHeader> {
  const bytes = await file.next(headerBytes)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const header = {
    rows: view.getUint32(4, true),
    headerBytes: view.getUint16(8, true),
    rowBytes: view.getUint16(10, true),
    language: view.getUint8(29),
  }
  // The first byte names a version in its low bits, and what else belongs to the table in the others.
  const version = view.getUint8(0)
  if ((version & 7) === 4) {
    throw malformed(
      file.name,
      'it is a table of dBASE 7, which is not read.',
      'Save it as dBASE IV: ogr2ogr out.shp in.shp.',
    )
  }
  if (![2, 3, 5, 0x30, 0x31, 0x32].some((known) => version === known || (version & 7) === known)) {
    throw malformed(file.name, `it begins with the byte ${version}, as no table of dBASE or FoxPro does.`)
  }
  if (header.headerBytes < headerBytes + 1 || header.rowBytes < 1 || header.headerBytes > file.size) {
    throw malformed(file.name, 'its header has sizes that no table has.')
  }
  const needed = header.headerBytes + header.rows * header.rowBytes
  if (needed > file.size) {
    const what = `its header says ${header.rows} rows of ${header.rowBytes} bytes, and the file has only ${file.size} bytes.`
    throw malformed(file.name, what)
  }
  return header
}

/** Reads the columns, up to the first row. Throws NodeError `MalformedBody`, `InvalidColumnName`, `RecordsDoNotFit`. */
export async function readDbfFields(
  file: EntryBytes,
  header: DbfHeader,
  page: CodePage,
  limits: ShapefileLimits,
): Promise<readonly DbfField[]> {
  const bytes = await file.next(header.headerBytes - headerBytes)
  const fields: DbfField[] = []
  let at = 0
  let cellAt = 1
  for (; at < bytes.length && bytes[at] !== terminator; at += fieldBytes) {
    if (at + fieldBytes > bytes.length)
      throw malformed(file.name, 'its list of columns is cut off by the end of the header.')
    const size = bytes[at + 16] ?? 0
    const { name, isCut } = fieldName(file, bytes.subarray(at, at + 11), page, fields.length)
    fields.push({ name, isCut, type: String.fromCharCode(bytes[at + 11] ?? 0), at: cellAt, bytes: size })
    cellAt += size
    if (cellAt > header.rowBytes) {
      const what = `its columns up to '${shown(name)}' take ${cellAt} bytes, and a row has ${header.rowBytes}.`
      throw malformed(file.name, what)
    }
    if (fields.length > limits.columns) {
      const what = `${shown(file.name)}: it has more than ${limits.columns} columns.`
      throw tooManyColumns(limits.columns, 'Leave columns out: ogr2ogr -select a,b out.shp in.shp.', what)
    }
  }
  if (cellAt !== header.rowBytes) {
    throw malformed(file.name, `its columns take ${cellAt} bytes, and a row has ${header.rowBytes}.`)
  }
  demandDistinct(file, fields)
  return fields
}

function fieldName(
  file: EntryBytes,
  bytes: Uint8Array,
  page: CodePage,
  index: number,
): Pick<DbfField, 'name' | 'isCut'> {
  const end = bytes.indexOf(0)
  const stored = bytes.subarray(0, end < 0 ? bytes.length : end)
  const whole = page.decode(stored)?.trim()
  const name = whole ?? (stored.length >= nameBytes ? page.decodeCut(stored)?.trim() : undefined)
  if (name !== undefined && name !== '') return { name, isCut: whole === undefined }
  const what = name === '' ? 'has no name' : `has a name that is no ${page.name}`
  throw new NodeError('InvalidColumnName', `${shown(file.name)}: column ${index + 1} ${what}. Nothing was stored.`, {
    hint: name === '' ? 'Name it.' : 'Say the character set with charset=, windows-1252 for instance.',
  })
}

function demandDistinct(file: EntryBytes, fields: readonly DbfField[]): void {
  const seen = new Set<string>()
  for (const { name } of fields) {
    const folded = foldAscii(name)
    if (seen.has(folded)) {
      throw new NodeError(
        'InvalidColumnName',
        `${shown(file.name)}: two columns are called '${shown(name)}'. Nothing was stored.`,
        { hint: 'Rename one; names are compared without regard to ASCII case.' },
      )
    }
    seen.add(folded)
  }
}

/** Whether the row that begins at `at` was deleted, and stands in the file all the same. */
export function isDeleted(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === deletedMark
}
