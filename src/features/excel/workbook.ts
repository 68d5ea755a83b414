// What a workbook says of itself: its sheets, how numbers are shown, which day is the first. And the one sheet that is read.
// Source: ISO/IEC 29500-1 §18.2, ISO/IEC 29500-2 §9.3

import { NodeError } from '../../libraries/base/errors.ts'
import { shown, type ZipEntry } from '../../libraries/formats/zip.ts'
import { malformed } from './faults.ts'
import { type FormatKind, kindOfBuiltIn, kindOfCode } from './number-format.ts'
import { isTrue, type XmlHandler, XmlReader } from './xml.ts'

/** What is read of a workbook. */
export interface Workbook {
  readonly sheet: { readonly name: string; readonly entry: ZipEntry }
  readonly strings: ZipEntry | undefined
  /** By number of a cell's style. */
  readonly kinds: readonly FormatKind[]
  readonly is1904: boolean
  /** Names of sheets that programs do not show, and that are not read. */
  readonly hidden: readonly string[]
}

interface NamedSheet {
  readonly name: string
  readonly relation: string
  readonly isHidden: boolean
}

/** Where a file leads to. */
interface Relation {
  readonly id: string
  /** Last part of the address of its kind: `worksheet`, `sharedStrings`. */
  readonly kind: string
  /** Path in the zip. */
  readonly path: string
}

const mostNames = 100
/** Most bytes of a file that is not the sheet or its texts. */
const smallBytes = 16 * 1024 * 1024

/**
 * The workbook in a zip of these files, and its sheet `asked`, or the only visible one. Throws NodeError `MalformedBody`;
 * `InvalidRequest` where there are several and none is asked for; `InvalidParameter` where none has the name.
 */
export async function readWorkbook(entries: readonly ZipEntry[], asked: string | undefined): Promise<Workbook> {
  const files = new Map(entries.map((entry) => [entry.name.toLowerCase(), entry]))
  if (files.size < entries.length) throw malformed('The zip', 'it has a file twice.')
  const [root] = await relationsOf(files, '')
  const path = root?.path ?? 'xl/workbook.xml'
  const entry = files.get(path.toLowerCase())
  if (entry === undefined || /\.bin$/i.test(path)) throw noWorkbook(entries)
  const parts = await relationsOf(files, entry.name)
  const book = await readParts(entry)
  const paths = new Map(parts.flatMap(({ id, kind, path }) => (kind === 'worksheet' ? [[id, path] as const] : [])))
  const sheets = book.sheets.filter(({ relation }) => paths.has(relation))
  const chosen = choose(sheets, asked)
  const sheetPath = paths.get(chosen.relation) ?? ''
  const sheet = files.get(sheetPath.toLowerCase())
  if (sheet === undefined)
    throw malformed(sheetPath, `the zip lacks this file, which is the sheet '${shown(chosen.name)}'.`)
  const fileOf = (kind: string): ZipEntry | undefined =>
    files.get(parts.find((part) => part.kind === kind)?.path.toLowerCase() ?? '')
  return {
    sheet: { name: chosen.name, entry: sheet },
    strings: fileOf('sharedStrings'),
    kinds: await readStyles(fileOf('styles')),
    is1904: book.is1904,
    hidden: sheets.filter(({ isHidden, name }) => isHidden && name !== chosen.name).map(({ name }) => name),
  }
}

/** Calls `open` for each tag of a small file. */
async function readTags(entry: ZipEntry, open: XmlHandler['open']): Promise<void> {
  if (entry.bytes > smallBytes) throw malformed(entry.name, `it has ${entry.bytes} bytes, too many for what it is.`)
  const xml = new XmlReader(entry.name, { open, close: () => {}, text: () => {} })
  for await (const chunk of entry.read()) xml.push(chunk)
  xml.finish()
}

/** Where `file` leads to; the empty name is the zip, of which the workbook alone counts. */
async function relationsOf(files: ReadonlyMap<string, ZipEntry>, file: string): Promise<readonly Relation[]> {
  const slash = file.lastIndexOf('/') + 1
  const folder = file.slice(0, slash)
  const entry = files.get(`${folder}_rels/${file.slice(slash)}.rels`.toLowerCase())
  const found: Relation[] = []
  if (entry === undefined) return found
  await readTags(entry, (name, { Id: id, Type: type, Target: target }) => {
    if (name !== 'Relationship' || id === undefined || type === undefined || target === undefined) return
    const kind = type.slice(type.lastIndexOf('/') + 1)
    if (file !== '' || kind === 'officeDocument') found.push({ id, kind, path: pathOf(folder, target) })
  })
  return found
}

function pathOf(folder: string, target: string): string {
  const parts: string[] = []
  for (const part of (target.startsWith('/') ? target : folder + target).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return parts.join('/')
}

async function readParts(entry: ZipEntry): Promise<{ sheets: readonly NamedSheet[]; is1904: boolean }> {
  const sheets: NamedSheet[] = []
  let is1904 = false
  await readTags(entry, (name, { date1904, name: sheet, state = 'visible', ...more }) => {
    if (name === 'workbookPr') is1904 = isTrue(date1904)
    if (name !== 'sheet' || sheet === undefined) return
    // Its namespace has a prefix, whatever that is.
    const [, relation = ''] = Object.entries(more).find(([attribute]) => attribute.endsWith(':id')) ?? []
    sheets.push({ name: sheet, relation, isHidden: state !== 'visible' })
  })
  return { sheets, is1904 }
}

/** How numbers of each style are shown. */
async function readStyles(entry: ZipEntry | undefined): Promise<readonly FormatKind[]> {
  if (entry === undefined) return ['number']
  const codes = new Map<number, FormatKind>()
  const kinds: FormatKind[] = []
  // Styles that have names are listed in the same way before; cells do not refer to them.
  let isOfCells = false
  await readTags(entry, (name, { numFmtId, formatCode = '' }) => {
    if (name === 'cellXfs' || name === 'cellStyles' || name === 'dxfs') isOfCells = name === 'cellXfs'
    const id = Number(numFmtId ?? 0)
    if (name === 'numFmt') codes.set(id, kindOfCode(formatCode))
    else if (name === 'xf' && isOfCells) kinds.push(codes.get(id) ?? kindOfBuiltIn(id))
  })
  return kinds.length === 0 ? ['number'] : kinds
}

function choose(sheets: readonly NamedSheet[], asked: string | undefined): NamedSheet {
  const visible = sheets.filter(({ isHidden }) => !isHidden)
  const candidates = (visible.length === 0 ? sheets : visible).slice(0, mostNames).map(({ name }) => name)
  if (asked === undefined) {
    const [only] = visible
    if (only !== undefined && visible.length === 1) return only
    const count = visible.length === 0 ? 'no visible sheet' : `${visible.length} sheets`
    throw new NodeError('InvalidRequest', `The workbook has ${count}. Nothing was stored.`, {
      hint: 'Name one with sheet=<name>, and send the others in separate requests.',
      candidates,
    })
  }
  const found =
    sheets.find(({ name }) => name === asked) ?? sheets.find(({ name }) => name.toLowerCase() === asked.toLowerCase())
  if (found !== undefined) return found
  throw new NodeError('InvalidParameter', `The workbook has no sheet '${shown(asked)}'. Nothing was stored.`, {
    hint: 'Use one of its names.',
    candidates,
  })
}

function noWorkbook(entries: readonly ZipEntry[]): NodeError {
  const isBinary = entries.some(({ name }) => /^xl\/workbook\.bin$/i.test(name))
  return malformed('The zip', isBinary ? 'it is a workbook in binary form (.xlsb).' : 'it holds no workbook.')
}

/** The refusal of a file that is no zip, where its first bytes tell what it is; undefined where they do not. */
export function otherWorkbook(head: Uint8Array): NodeError | undefined {
  if (![0xd0, 0xcf, 0x11, 0xe0].every((byte, at) => head[at] === byte)) return undefined
  return malformed('The file', 'it is encrypted, or an old workbook (.xls).', 'Save it as .xlsx without a password.')
}
