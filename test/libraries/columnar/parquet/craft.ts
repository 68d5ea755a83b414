// Parquet files made by hand, page by page, so that they can lie: sizes, counts and types stand in them as they are told.

import { concatBytes, utf8 } from '../../../../src/libraries/base/bytes.ts'
import { ThriftWriter, varintBytes } from '../../../../src/libraries/columnar/parquet/thrift.ts'

/** Numbers as in parquet.thrift. */
export interface CraftElement {
  readonly name: string
  readonly type?: number
  readonly typeLength?: number
  readonly repetition?: number
  readonly children?: number
  readonly converted?: number
  readonly logical?: number
  readonly scale?: number
  readonly precision?: number
}

export interface CraftPage {
  readonly kind?: 'data' | 'dataV2' | 'dictionary'
  readonly entries: number
  readonly encoding?: number
  readonly levelEncoding?: number
  readonly body: Uint8Array
  /** What the header says, where it is not what is so. */
  readonly storedBytes?: number
  readonly inflatedBytes?: number
  readonly crc?: number
  readonly definitionBytes?: number
}

export interface CraftChunk {
  readonly pages: readonly CraftPage[]
  readonly type: number
  readonly values: number
  readonly codec?: number
  readonly start?: number
  readonly storedBytes?: number
  readonly isEncrypted?: boolean
}

export interface CraftFile {
  /** Without the root. */
  readonly schema: readonly CraftElement[]
  readonly rootChildren?: number
  readonly groups: readonly { readonly rows: number; readonly chunks: readonly CraftChunk[] }[]
  readonly rows?: number
  readonly footerBytes?: number
  readonly magic?: string
}

export function craft(file: CraftFile): Uint8Array {
  const parts: Uint8Array[] = [utf8('PAR1')]
  let at = 4
  const groups = file.groups.map(({ rows, chunks }) => ({
    rows,
    chunks: chunks.map((chunk) => {
      const start = at
      for (const page of chunk.pages) {
        const bytes = pageBytes(page)
        parts.push(bytes)
        at += bytes.length
      }
      return { ...chunk, start: chunk.start ?? start, storedBytes: chunk.storedBytes ?? at - start }
    }),
  }))
  const footer = footerBytes(file, groups)
  const tail = new Uint8Array(8)
  new DataView(tail.buffer).setUint32(0, file.footerBytes ?? footer.length, true)
  tail.set(utf8(file.magic ?? 'PAR1'), 4)
  return concatBytes([...parts, footer, tail])
}

function pageBytes(page: CraftPage): Uint8Array {
  const { kind = 'data', entries, encoding = 0, levelEncoding = 3, body } = page
  const thrift = new ThriftWriter()
  thrift.i32(1, { data: 0, dictionary: 2, dataV2: 3 }[kind])
  thrift.i32(2, page.inflatedBytes ?? body.length)
  thrift.i32(3, page.storedBytes ?? body.length)
  if (page.crc !== undefined) thrift.i32(4, page.crc | 0)
  if (kind === 'data') {
    thrift.struct(5, () => {
      thrift.i32(1, entries)
      thrift.i32(2, encoding)
      thrift.i32(3, levelEncoding)
      thrift.i32(4, levelEncoding)
    })
  } else if (kind === 'dictionary') {
    thrift.struct(7, () => {
      thrift.i32(1, entries)
      thrift.i32(2, encoding)
    })
  } else {
    thrift.struct(8, () => {
      thrift.i32(1, entries)
      thrift.i32(2, 0)
      thrift.i32(3, entries)
      thrift.i32(4, encoding)
      thrift.i32(5, page.definitionBytes ?? 0)
      thrift.i32(6, 0)
      thrift.bool(7, false)
    })
  }
  return concatBytes([thrift.finish(), body])
}

type PlacedGroups = readonly {
  rows: number
  chunks: readonly (CraftChunk & { start: number; storedBytes: number })[]
}[]

function footerBytes(file: CraftFile, groups: PlacedGroups): Uint8Array {
  const thrift = new ThriftWriter()
  const root: CraftElement = { name: 'root', children: file.rootChildren ?? file.schema.filter(isTop).length }
  thrift.i32(1, 1)
  thrift.structs(2, [root, ...file.schema], (element) => {
    if (element.type !== undefined) thrift.i32(1, element.type)
    if (element.typeLength !== undefined) thrift.i32(2, element.typeLength)
    if (element.repetition !== undefined) thrift.i32(3, element.repetition)
    thrift.text(4, element.name)
    if (element.children !== undefined) thrift.i32(5, element.children)
    if (element.converted !== undefined) thrift.i32(6, element.converted)
    if (element.scale !== undefined) thrift.i32(7, element.scale)
    if (element.precision !== undefined) thrift.i32(8, element.precision)
    const { logical } = element
    if (logical !== undefined) thrift.struct(10, () => thrift.struct(logical, () => undefined))
  })
  thrift.i64(3, file.rows ?? groups.reduce((sum, { rows }) => sum + rows, 0))
  thrift.structs(4, groups, ({ rows, chunks }) => {
    thrift.structs(1, chunks, (chunk) => {
      thrift.i64(2, chunk.start)
      thrift.struct(3, () => {
        thrift.i32(1, chunk.type)
        thrift.i32s(2, [0])
        thrift.texts(3, ['x'])
        thrift.i32(4, chunk.codec ?? 0)
        thrift.i64(5, chunk.values)
        thrift.i64(6, chunk.storedBytes)
        thrift.i64(7, chunk.storedBytes)
        thrift.i64(9, chunk.start)
      })
      if (chunk.isEncrypted === true) thrift.struct(8, () => thrift.struct(1, () => undefined))
    })
    thrift.i64(2, 0)
    thrift.i64(3, rows)
  })
  return thrift.finish()
}

/** Elements of a flat schema. */
function isTop({ children }: CraftElement): boolean {
  return children === undefined
}

/** Runs of one repeated value of up to 8 bits. */
export function repeated(value: number, count: number): Uint8Array {
  return Uint8Array.from([...varintBytes(2 * count), value])
}

/** `bytes` behind their length. */
export function withLength(bytes: Uint8Array): Uint8Array {
  const head = new Uint8Array(4)
  new DataView(head.buffer).setUint32(0, bytes.length, true)
  return concatBytes([head, bytes])
}

/** A file of one required INT32 column whose one page is as told. */
export function oneColumn(
  page: CraftPage,
  chunk: Partial<CraftChunk> = {},
  element: Partial<CraftElement> = {},
): Uint8Array {
  return craft({
    schema: [{ name: 'n', type: 1, repetition: 0, ...element }],
    groups: [{ rows: page.entries, chunks: [{ pages: [page], type: 1, values: page.entries, ...chunk }] }],
  })
}
