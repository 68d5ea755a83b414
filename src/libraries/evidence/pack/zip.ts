// The container of an evidence pack: a zip of stored files, in which every byte but those of the files follows from their names,
// sizes and sums. So a reader makes the zip anew while it reads, and finds each byte that is another (docs/spec/evidence-pack.md).
// Source: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT

import { concatBytes, decodeUtf8, equalBytes, utf8 } from '../../base/bytes.ts'
import { crc32 } from '../../base/crc32.ts'
import { DecodeError } from '../../base/errors.ts'
import { ByteSource } from '../../proof/bundle/tar.ts'

/** Why a pack cannot be used; the message is a sentence. */
export class PackFault extends DecodeError {
  override readonly name: string = 'PackFault'
  readonly verdict: 'no evidence' | 'impossible' | 'altered'
  readonly sentence: string

  constructor(verdict: PackFault['verdict'], sentence: string) {
    super('evidence pack', sentence)
    this.verdict = verdict
    this.sentence = sentence
  }
}

export interface ZipFile {
  /** Printable ASCII. */
  readonly name: string
  readonly sizeBytes: number
  readonly crc32: number
}

/** Not all programs read more. */
const mostFiles = 65_000
const mostBytes = 0xffff_fffe
const [localSign, centralSign, endSign] = [0x0403_4b50, 0x0201_4b50, 0x0605_4b50]
const headerBytes = 30
const nameBytesMost = 200

/** Signature, version 1.0, no flags, stored, midnight of 1 January 1980, sum, twice the size, length of the name, nothing more. */
function facts({ name, sizeBytes, crc32: sum }: ZipFile): number[] {
  return [10, 0, 0, 0, 33, ...long(sum), ...long(sizeBytes), ...long(sizeBytes), name.length, 0]
}

/** What stands before a file. */
export function zipHeader(file: ZipFile): Uint8Array {
  return concatBytes([words(...long(localSign), ...facts(file)), utf8(file.name)])
}

/** What stands behind the last file. Throws PackFault for more than a pack holds. */
export function zipEnd(files: readonly ZipFile[]): Uint8Array {
  let at = 0
  const list = files.map((file) => {
    const place = at
    at += headerBytes + file.name.length + file.sizeBytes
    return concatBytes([
      words(...long(centralSign), 10, ...facts(file), 0, 0, 0, 0, 0, ...long(place)),
      utf8(file.name),
    ])
  })
  const bytes = concatBytes(list)
  const count = files.length
  if (at + bytes.length > mostBytes || count > mostFiles) {
    throw new PackFault(
      'impossible',
      `A pack holds at most ${mostFiles} files and 4 GiB; this has ${count} and ${at} bytes.`,
    )
  }
  return concatBytes([bytes, words(...long(endSign), 0, 0, count, count, ...long(bytes.length), ...long(at), 0)])
}

/** Takes a file in pieces. What it leaves of them is read all the same. */
export type TakeFile = (file: Omit<ZipFile, 'crc32'>, pieces: AsyncIterable<Uint8Array>) => Promise<void>

/** Reads a zip to its end. Throws PackFault where a byte is not that of a pack, and what `take` and `chunks` throw. */
export async function readZip(chunks: AsyncIterable<Uint8Array>, take: TakeFile): Promise<void> {
  const source = new ByteSource(chunks)
  const files: ZipFile[] = []
  for (;;) {
    const start = await source.take(headerBytes)
    if (readLong(start, 0) !== localSign) return await readEnd(source, { start, files })
    const sizeBytes = readLong(start, 18)
    const name = await source.take(Math.min(nameBytesMost, (start[26] ?? 0) + 256 * (start[27] ?? 0)))
    const file = { name: nameIn(name), sizeBytes, crc32: readLong(start, 14) }
    if (!equalBytes(zipHeader(file), concatBytes([start, name]))) throw notOfPacks(`The header of ${file.name}`)
    const pieces = summed(source, file)
    await take(file, pieces)
    for await (const _ of pieces);
    files.push(file)
  }
}

/** Throws PackFault at the end of a file that is cut, or has another sum. */
async function* summed(source: ByteSource, { name, sizeBytes, crc32: sum }: ZipFile): AsyncGenerator<Uint8Array> {
  let [found, bytes] = [0, 0]
  for await (const piece of source.pieces(sizeBytes)) {
    found = crc32(piece, found)
    bytes += piece.length
    yield piece
  }
  if (bytes < sizeBytes) throw new PackFault('altered', `It ends before ${name} does.`)
  if (found !== sum) throw new PackFault('altered', `The bytes of ${name} have not the sum that its header has.`)
}

async function readEnd(
  source: ByteSource,
  { start, files }: { readonly start: Uint8Array; readonly files: readonly ZipFile[] },
): Promise<void> {
  if (files.length === 0) throw new PackFault('no evidence', 'It is no evidence pack.')
  const end = zipEnd(files)
  const rest = await source.take(Math.max(0, end.length - start.length) + 1)
  if (!equalBytes(concatBytes([start, rest]), end)) throw notOfPacks('What stands behind its last file')
}

function nameIn(bytes: Uint8Array): string {
  const name = bytes.every((byte) => byte > 0x20 && byte < 0x7f) ? decodeUtf8(bytes) : ''
  if (name === '' || bytes.length === nameBytesMost) throw notOfPacks('The name of a file')
  return name
}

function notOfPacks(what: string): PackFault {
  return new PackFault('altered', `${what} is not as a pack has it.`)
}

function readLong(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at, at + 4)
  return a + 256 * b + 65_536 * c + 16_777_216 * d
}

/** Numbers of two bytes, the low one first. */
function words(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => [value & 0xff, value >> 8]))
}

function long(value: number): readonly [low: number, high: number] {
  return [value & 0xffff, value >>> 16]
}
