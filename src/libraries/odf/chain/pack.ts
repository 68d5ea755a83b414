// A pack: the blocks, checkpoints and slices of a run of commits in one immutable file, bytes untouched, with an index of
// hash → place and a summary. Written in one pass, read by ranges: magic, objects, index, summary, trailer. The form is
// docs/decisions/packs.md; `node/store/packs.ts` finds objects in packs, `node/store/write-pack.ts` makes them.

import { createSha3256, type IncrementalHash, sha3256 } from '../../base/ids/native-crypto.ts'
import { nextTurn } from '../../base/clock.ts'
import { concatBytes, equalBytes, utf8 } from '../../base/bytes.ts'
import { DecodeError } from '../../base/errors.ts'
import { digestBytes, encodeSummary, type PackSummary } from './pack-summary.ts'

const magic = utf8('PRFSPACK')
const version = 1
/** What an index says an object is; the place in this list is the number that stands for it. */
const packedKinds = ['blocks', 'data', 'checkpoints'] as const
export type PackedKind = (typeof packedKinds)[number]

// An entry of the index: digest, kind, three zeros, place (6 bytes), length (6 bytes). Little-endian.
const kindAt = 32
const placeAt = 36
const lengthAt = 42
const entryBytes = 48

// The trailer: magic, version, zeros; end of the objects; entries; bytes of the summary; digests of index, summary, and
// of all of the trailer before it. Nobody here reads an index as a whole; its digest is for those who do.
const versionAt = 8
const objectsEndAt = 16
const entriesAt = 24
const summaryBytesAt = 32
const indexDigestAt = 40
const summaryDigestAt = 72
const trailerDigestAt = 104
export const trailerBytes = 136

/** Where the parts of a pack are: bytes from its beginning. */
export interface PackParts {
  readonly indexAt: number
  readonly entries: number
  readonly summaryAt: number
  readonly trailerAt: number
  readonly summaryDigest: Uint8Array
}

/** Bytes [at, at + length) of a pack are an object. */
export interface PackedPlace {
  readonly at: number
  readonly length: number
}

export interface PackedObject {
  readonly kind: PackedKind
  readonly digest: Uint8Array
  readonly bytes: Uint8Array
}

/** Entries that begin with the same byte are sorted in one go, and so many (in powers of two) between two turns of the loop. */
const buckets = 256
const sortedAtOnceLog2 = 12
const hashedAtOnce = 256 * 1024

/**
 * The bytes of a pack of these objects, in this order; `summary` is asked for after the last of them. Throws DecodeError
 * when an object comes twice, and what `objects` throws.
 */
export async function* encodePack(
  objects: AsyncIterable<PackedObject>,
  summary: () => Promise<PackSummary>,
): AsyncGenerator<Uint8Array> {
  const index: Uint8Array[][] = Array.from({ length: buckets }, () => [])
  let at = magic.length
  yield magic
  for await (const { kind, digest, bytes } of objects) {
    index[digest[0] ?? 0]?.push(entryOf(digest, packedKinds.indexOf(kind), { at, length: bytes.length }))
    at += bytes.length
    yield bytes
  }
  const indexDigest = createSha3256()
  let entries = 0
  for (const bucket of index) {
    bucket.sort(compareEntries)
    for (const [i, entry] of bucket.entries()) {
      const before = bucket[i - 1]
      if (before !== undefined && compareEntries(before, entry) === 0) throw fault('an object comes twice')
    }
    const bytes = concatBytes(bucket)
    indexDigest.update(bytes)
    yield bytes
    const before = entries
    entries += bucket.length
    if (before >> sortedAtOnceLog2 !== entries >> sortedAtOnceLog2) await nextTurn()
  }
  const summaryBytes = encodeSummary(await summary())
  yield summaryBytes
  const summaryDigest = await digestInTurns(summaryBytes)
  yield encodeTrailer(at, { entries, summaryBytes: summaryBytes.length }, [indexDigest.digest(), summaryDigest])
}

function encodeTrailer(
  objectsEnd: number,
  { entries, summaryBytes }: { readonly entries: number; readonly summaryBytes: number },
  digests: readonly [Uint8Array, Uint8Array],
): Uint8Array {
  const bytes = new Uint8Array(trailerBytes)
  const view = new DataView(bytes.buffer)
  bytes.set(magic)
  view.setUint32(versionAt, version, true)
  setNumber(view, objectsEndAt, objectsEnd)
  setNumber(view, entriesAt, entries)
  setNumber(view, summaryBytesAt, summaryBytes)
  bytes.set(digests[0], indexDigestAt)
  bytes.set(digests[1], summaryDigestAt)
  bytes.set(sha3256(bytes.subarray(0, trailerDigestAt)), trailerDigestAt)
  return bytes
}

/** What the last `trailerBytes` of a file of `sizeBytes` say of it. Throws DecodeError. */
export function decodeTrailer(bytes: Uint8Array, sizeBytes: number): PackParts {
  if (bytes.length !== trailerBytes || !equalBytes(bytes.subarray(0, magic.length), magic)) throw fault('is no pack')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const found = view.getUint32(versionAt, true)
  if (found !== version) throw fault(`is of version ${found}; this program reads version ${version}`)
  if (!equalBytes(sha3256(bytes.subarray(0, trailerDigestAt)), bytes.subarray(trailerDigestAt))) {
    throw fault('its trailer is damaged')
  }
  const indexAt = getNumber(view, objectsEndAt)
  const entries = getNumber(view, entriesAt)
  const summaryAt = indexAt + entries * entryBytes
  const trailerAt = summaryAt + getNumber(view, summaryBytesAt)
  if (indexAt < magic.length || trailerAt + trailerBytes !== sizeBytes) throw fault('its parts are not its size')
  const summaryDigest = bytes.slice(summaryDigestAt, summaryDigestAt + digestBytes)
  return { indexAt, entries, summaryAt, trailerAt, summaryDigest }
}

/** Entries that are read at once: one page of the disk. */
const windowEntries = 85

/** So often the next page is guessed from how far off the last one was; then the rest is halved. */
const guessesMost = 4

/**
 * Where an object lies, or undefined when the pack has no such object; `read` reads bytes of the file. Two reads or so:
 * digests are spread evenly. Throws DecodeError for a place outside the objects.
 */
export async function findInIndex(
  { indexAt, entries }: PackParts,
  { kind, digest }: Pick<PackedObject, 'kind' | 'digest'>,
  read: (start: number, end: number) => Promise<Uint8Array>,
): Promise<PackedPlace | undefined> {
  const wanted = entryOf(digest, packedKinds.indexOf(kind), { at: 0, length: 0 })
  let [low, high] = [0, entries]
  let guess = Math.floor(entries * spreadOf(wanted))
  for (let guesses = 1; low < high; guesses++) {
    const from = Math.min(Math.max(low, guess - (windowEntries >> 1)), Math.max(low, high - windowEntries))
    const to = Math.min(high, from + windowEntries)
    const window = await read(indexAt + from * entryBytes, indexAt + to * entryBytes)
    const entry = (i: number): Uint8Array => window.subarray((i - from) * entryBytes, (i - from + 1) * entryBytes)
    if (compareEntries(wanted, entry(from)) < 0) {
      high = from
      guess = from - Math.ceil(entries * (spreadOf(entry(from)) - spreadOf(wanted)))
    } else if (compareEntries(wanted, entry(to - 1)) > 0) {
      low = to
      guess = to + Math.floor(entries * (spreadOf(wanted) - spreadOf(entry(to - 1))))
    } else {
      for (let i = from; i < to; i++) if (compareEntries(wanted, entry(i)) === 0) return placeIn(entry(i), indexAt)
      return undefined
    }
    if (guesses >= guessesMost) guess = (low + high) >>> 1
  }
  return undefined
}

/** Where a digest lies among all that there can be, from 0 to 1. */
function spreadOf(entry: Uint8Array): number {
  return new DataView(entry.buffer, entry.byteOffset).getUint32(0) / 2 ** 32
}

/** The digest of many bytes; others have their turn meanwhile. */
export async function digestInTurns(bytes: Uint8Array): Promise<Uint8Array> {
  const digest: IncrementalHash = createSha3256()
  for (let at = 0; at < bytes.length; at += hashedAtOnce) {
    if (at > 0) await nextTurn()
    digest.update(bytes.subarray(at, at + hashedAtOnce))
  }
  return digest.digest()
}

function entryOf(digest: Uint8Array, kind: number, { at, length }: PackedPlace): Uint8Array {
  const entry = new Uint8Array(entryBytes)
  const view = new DataView(entry.buffer)
  entry.set(digest)
  entry[kindAt] = kind
  setNumber(view, placeAt, at)
  setNumber(view, lengthAt, length)
  return entry
}

function placeIn(entry: Uint8Array, indexAt: number): PackedPlace {
  const view = new DataView(entry.buffer, entry.byteOffset, entry.byteLength)
  const [at, length] = [getNumber(view, placeAt), getNumber(view, lengthAt)]
  if (at < magic.length || at + length > indexAt) throw fault(`its index names bytes ${at} to ${at + length}`)
  return { at, length }
}

/** By digest, then kind. */
function compareEntries(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i <= kindAt; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Integers of 48 bits. */
function setNumber(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % 2 ** 32, true)
  view.setUint16(at + 4, Math.floor(value / 2 ** 32), true)
}

function getNumber(view: DataView, at: number): number {
  return view.getUint16(at + 4, true) * 2 ** 32 + view.getUint32(at, true)
}

function fault(reason: string): DecodeError {
  return new DecodeError('pack', reason)
}
