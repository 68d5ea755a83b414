// Which character set the texts of a .dbf are in, and how they are decoded: the parameter `charset`, else the .cpg, else the
// language byte of the .dbf, else UTF-8. What has no meaning in it is never replaced. Tables of iconv-lite have the
// pages of DOS. Sources: https://encoding.spec.whatwg.org/#names-and-labels, https://desktop.arcgis.com/en/arcmap/latest/manage-data/shapefiles/dbf-file-structure.htm

import { ownValue } from '../../libraries/base/collections.ts'
import { decodedBy } from '../../libraries/formats/dialect/charset.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { shown } from '../../libraries/formats/zip.ts'

export interface CodePage {
  /** What messages say. */
  readonly name: string
  /** The text of `bytes`; undefined where they are none. */
  readonly decode: (bytes: Uint8Array) => string | undefined
  /** The same of bytes that may end in the middle of a character, which is left out. */
  readonly decodeCut: (bytes: Uint8Array) => string | undefined
}

/** Code pages, each with the language bytes of a .dbf that mean it. The rest of the values says nothing. */
const pagesOfLanguages: readonly (readonly [page: number, ...languages: number[]])[] = [
  [437, 1, 11, 13, 15, 17, 21, 24, 25, 27],
  [850, 2, 10, 14, 16, 18, 20, 22, 26, 29, 37, 55],
  [1252, 3, 87, 88, 89],
  [10000, 4],
  [865, 8, 23, 102],
  [932, 19, 123],
  [863, 28, 108],
  [852, 31, 34, 35, 64, 100, 135],
  [860, 36],
  [866, 38, 101],
  [936, 77, 122],
  [949, 78, 121],
  [950, 79, 120],
  [874, 80, 124],
  [861, 103],
  [737, 106, 134],
  [857, 107, 136],
  [10007, 150],
  [1250, 200],
  [1251, 201],
  [1254, 202],
  [1253, 203],
  [1257, 204],
]
/** Language byte → code page. */
const languagePages: ReadonlyMap<number, number> = new Map(
  pagesOfLanguages.flatMap(([page, ...languages]) => languages.map((language) => [language, page])),
)

/** Numbers of code pages → labels of the Encoding Standard. */
const webLabels: Readonly<Record<number, string>> = {
  866: 'ibm866',
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  10000: 'macintosh',
  10007: 'x-mac-cyrillic',
  20866: 'koi8-r',
  21866: 'koi8-u',
  51932: 'euc-jp',
  51949: 'euc-kr',
  54936: 'gb18030',
  65001: 'utf-8',
}

/** Pages of DOS: one byte a character. */
const dosPages: ReadonlySet<number> = new Set([
  437, 720, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 869,
])

/** Names that are no numbers of a page, without what is neither letter nor digit. */
const named: Readonly<Record<string, number>> = {
  utf8: 65001,
  latin1: 28591,
  latin2: 28592,
  latin9: 28605,
  big5: 950,
  gbk: 936,
  gb2312: 936,
  gb18030: 54936,
  sjis: 932,
  shiftjis: 932,
  euckr: 949,
  eucjp: 51932,
  koi8r: 20866,
  koi8u: 21866,
  ascii: 65001,
  usascii: 65001,
  macintosh: 10000,
}

/** What a character set is chosen by. */
export interface CharsetSources {
  /** The parameter. */
  readonly asked: string | undefined
  /** Content of the .cpg. */
  readonly cpg: string | undefined
  /** Language byte of the .dbf. */
  readonly language: number
}

/** Throws NodeError `InvalidParameter`, `UnsupportedEncoding` where a name is not known. */
export function codePageOf({ asked, cpg, language }: CharsetSources): CodePage {
  if (asked !== undefined) {
    const page = pageNamed(asked)
    if (page !== undefined) return codePage(page)
    throw new NodeError('InvalidParameter', `The parameter charset is '${shown(asked)}', which is not known.`, { hint })
  }
  const label = cpg?.trim() ?? ''
  if (label !== '') {
    const page = pageNamed(label)
    if (page !== undefined) return codePage(page)
    const message = `The .cpg names the character set '${shown(label)}', which is not known. Nothing was stored.`
    throw new NodeError('UnsupportedEncoding', message, { hint })
  }
  const page = languagePages.get(language)
  if (page !== undefined) return codePage(page)
  // Nobody says that it is UTF-8: what is none at its end may be of another character set.
  const guessed = codePage(65001)
  return { ...guessed, decodeCut: guessed.decode }
}

const hint = 'Say charset=utf-8, charset=windows-1252 or another name or number of a code page.'

/** The number of the page that `label` names: `UTF-8`, `ISO-8859-1`, `88591`, `CP1252`, `ANSI 1252`, `LDID/87`. */
function pageNamed(label: string): number | undefined {
  const name = label.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  const language = /^ldid(\d{1,3})$/.exec(name)?.[1]
  if (language !== undefined) return languagePages.get(Number(language))
  const iso = /^(?:iso)?8859(\d{1,2})$/.exec(name)?.[1]
  if (iso !== undefined) return isoPage(Number(iso))
  const digits = /^(?:cp|windows|win|ibm|oem|ansi|ms|dos|codepage)?(\d{3,5})$/.exec(name)?.[1]
  const page = digits === undefined ? ownValue(named, name) : Number(digits)
  return page !== undefined && isKnown(page) ? page : undefined
}

/** ISO 8859-1 is page 28591, and so on; part 12 does not exist. */
function isoPage(part: number): number | undefined {
  return part >= 1 && part <= 16 && part !== 12 ? 28590 + part : undefined
}

function isKnown(page: number): boolean {
  const isIso = page > 28590 && isoPage(page - 28590) !== undefined
  return isIso || dosPages.has(page) || webLabels[page] !== undefined || (page >= 1250 && page <= 1258)
}

function codePage(page: number): CodePage {
  // TextDecoder takes ISO 8859 as pages of Windows, which have letters where these have control characters.
  if (page > 28590 && page < 28607) return tablePage(`ISO-8859-${page - 28590}`)
  if (dosPages.has(page)) return tablePage(`CP${page}`)
  return webPage(webLabels[page] ?? `windows-${page}`)
}

/** A page that a table of iconv-lite decodes: a byte without a meaning is U+FFFD there. */
function tablePage(name: string): CodePage {
  const decode = (bytes: Uint8Array): string | undefined => {
    const text = decodedBy(name, bytes)
    return text.includes('\ufffd') ? undefined : text
  }
  return { name, decode, decodeCut: decode }
}

function webPage(label: string): CodePage {
  const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true })
  const read = (by: InstanceType<typeof TextDecoder>, bytes: Uint8Array, stream: boolean): string | undefined => {
    try {
      return by.decode(bytes, { stream })
    } catch (error) {
      if (error instanceof TypeError) return undefined
      throw error
    }
  }
  return {
    name: label === 'utf-8' ? 'UTF-8' : label,
    decode: (bytes) => read(decoder, bytes, false),
    // A decoder keeps what it waits to see the end of: this one is of no more use.
    decodeCut: (bytes) => read(new TextDecoder(label, { fatal: true, ignoreBOM: true }), bytes, true),
  }
}
