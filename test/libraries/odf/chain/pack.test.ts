import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  decodeTrailer,
  encodePack,
  findInIndex,
  type PackedKind,
  type PackedObject,
  trailerBytes,
} from '../../../../src/libraries/odf/chain/pack.ts'
import {
  commitIn,
  decodeSummary,
  encodeSummary,
  endOfPack,
  hashIn,
  type PackSummary,
  SummaryBuilder,
} from '../../../../src/libraries/odf/chain/pack-summary.ts'
import type { CommitRecord } from '../../../../src/libraries/odf/chain/records.ts'
import { type Hash, hashText, sha3Hash } from '../../../../src/libraries/base/ids/identifiers.ts'
import { sha3256 } from '../../../../src/libraries/base/ids/native-crypto.ts'
import { must } from '../../../../src/libraries/base/assert.ts'
import { concatBytes, toHex, utf8 } from '../../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../../src/libraries/base/errors.ts'
import type { AddData, MetadataBlock, MetadataEvent } from '../../../../src/libraries/model/events.ts'
import { instantFromMs } from '../../../../src/libraries/model/instant.ts'

const dataset = `did:odf:fed01${'3'.repeat(64)}`
const hashOfBlock = (sequence: number): Hash => sha3Hash(utf8(`block ${sequence}`))

interface MadeCommit {
  readonly record: CommitRecord
  readonly blocks: readonly MetadataBlock[]
}

/** Commits of `sizes` blocks each; every commit ends with rows, a checkpoint, or neither, as `rows` says. */
function commitsOf(sizes: readonly number[], rows: (sequence: number) => number): readonly MadeCommit[] {
  const commits: MadeCommit[] = []
  let sequence = 0
  let offset = 0
  for (const [number, size] of sizes.entries()) {
    const blocks: MetadataBlock[] = []
    for (let i = 0; i < size; i++, sequence++) {
      const count = rows(sequence)
      const named = (what: string): Hash => sha3Hash(utf8(`${what} ${sequence}`))
      const event: MetadataEvent =
        i < size - 1
          ? { kind: 'SetLicense', shortName: 'x', name: 'x', websiteUrl: 'https://example.org' }
          : {
              kind: 'AddData',
              ...(offset === 0 ? {} : { prevOffset: offset - 1 }),
              ...(count === 0
                ? {}
                : {
                    newData: {
                      logicalHash: `f9680c00120${'0'.repeat(64)}`,
                      physicalHash: named('slice'),
                      offsetInterval: { start: offset, end: offset + count - 1 },
                      size: 10 * count,
                    },
                    newWatermark: instantFromMs(sequence),
                  }),
              newCheckpoint: { physicalHash: named('checkpoint'), size: 7 },
              newSourceState: {
                sourceName: 'default',
                kind: 'proofstream.dev/log-position',
                value: `{"anchor":"f1620","log":"log-${number % 2}","next":${sequence + 1},"partition":0}`,
              },
            }
      if (i === size - 1) offset += count
      blocks.push({
        systemTime: instantFromMs(1_000 * sequence),
        ...(sequence === 0 ? {} : { prevBlockHash: hashOfBlock(sequence - 1) }),
        sequenceNumber: sequence,
        event,
      })
    }
    const hashes = blocks.map((block) => hashOfBlock(Number(block.sequenceNumber)))
    commits.push({ record: { blocks: hashes, log: `log-${number % 2}`, partition: 3, next: sequence }, blocks })
  }
  return commits
}

function summaryOf(commits: readonly MadeCommit[], level = 0): Promise<PackSummary> {
  const builder = new SummaryBuilder({ dataset, level, number: 0, sequence: 0, offset: 0 })
  for (const { record, blocks } of commits) {
    builder.addCommit(record)
    for (const [i, block] of blocks.entries()) builder.addBlock(record.blocks[i] ?? '', block)
  }
  return builder.finish()
}

const ordinary = commitsOf([7, ...Array<number>(249).fill(1)], (sequence) => sequence % 3)

async function packed(objects: readonly PackedObject[], summary = summaryOf(ordinary)): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  async function* all(): AsyncGenerator<PackedObject> {
    yield* objects
  }
  for await (const chunk of encodePack(all(), () => summary)) chunks.push(chunk)
  return concatBytes(chunks)
}

const kinds: readonly PackedKind[] = ['blocks', 'data', 'checkpoints']
const anyObjects = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...kinds), fc.uint8Array({ minLength: 1, maxLength: 40 })), {
    maxLength: 300,
    selector: ([kind, bytes]) => `${kind} ${toHex(bytes)}`,
  })
  .map((all) => all.map(([kind, bytes]): PackedObject => ({ kind, digest: sha3256(bytes), bytes })))

describe('a pack', () => {
  test('gives every object back by its hash and kind, and no other', async () => {
    await fc.assert(
      fc.asyncProperty(anyObjects, fc.uint8Array({ minLength: 32, maxLength: 32 }), async (objects, other) => {
        const file = await packed(objects)
        const parts = decodeTrailer(file.subarray(-trailerBytes), file.length)
        const read = async (start: number, end: number): Promise<Uint8Array> => file.slice(start, end)
        for (const { kind, digest, bytes } of objects) {
          const place = await findInIndex(parts, { kind, digest }, read)
          expect(file.slice(place?.at, (place?.at ?? 0) + (place?.length ?? 0))).toEqual(bytes)
        }
        for (const kind of kinds) expect(await findInIndex(parts, { kind, digest: other }, read)).toBeUndefined()
        const index = file.subarray(parts.indexAt, parts.summaryAt)
        expect(file.subarray(-trailerBytes).subarray(40, 72)).toEqual(sha3256(index))
        expect(await decodeSummary(file.subarray(parts.summaryAt, parts.trailerAt))).toEqual(await summaryOf(ordinary))
      }),
      { numRuns: 40 },
    )
  })

  test('finds an object among many by few reads of a page', async () => {
    const objects = Array.from({ length: 30_000 }, (_, i): PackedObject => {
      const bytes = utf8(String(i))
      return { kind: 'data', digest: sha3256(bytes), bytes }
    })
    const file = await packed(objects)
    const parts = decodeTrailer(file.subarray(-trailerBytes), file.length)
    let [reads, most] = [0, 0]
    for (const { kind, digest } of objects.slice(0, 500)) {
      await findInIndex(parts, { kind, digest }, async (start, end) => {
        reads++
        most = Math.max(most, end - start)
        return file.subarray(start, end)
      })
    }
    expect(most).toBeLessThanOrEqual(4096)
    expect(reads / 500).toBeLessThan(2.5)
  })

  test('does not take an object twice', async () => {
    const object: PackedObject = { kind: 'data', digest: sha3256(utf8('a')), bytes: utf8('a') }
    await expect(packed([object, { ...object, kind: 'blocks' }])).resolves.toBeDefined()
    await expect(packed([object, object])).rejects.toThrow(DecodeError)
  })

  test('is refused wherever a byte of summary or trailer differs, or is missing', async () => {
    const objects = kinds.map((kind): PackedObject => ({ kind, digest: sha3256(utf8(kind)), bytes: utf8(kind) }))
    const file = await packed(objects)
    const from = decodeTrailer(file.subarray(-trailerBytes), file.length).summaryAt
    const readAll = (bytes: Uint8Array): void => {
      const { summaryAt, trailerAt, summaryDigest } = decodeTrailer(bytes.subarray(-trailerBytes), bytes.length)
      if (toHex(sha3256(bytes.subarray(summaryAt, trailerAt))) !== toHex(summaryDigest)) {
        throw new DecodeError('pack', 'its summary is damaged')
      }
    }
    readAll(file)
    const place = fc.integer({ min: from, max: file.length - 1 })
    fc.assert(
      fc.property(place, fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = file.slice()
        damaged[at] = (damaged[at] ?? 0) ^ change
        expect(() => readAll(damaged)).toThrow(DecodeError)
      }),
    )
    fc.assert(
      fc.property(fc.integer({ min: 0, max: file.length - 1 }), (length) => {
        expect(() => readAll(file.slice(0, length))).toThrow(DecodeError)
      }),
    )
  })

  test('is refused when its index names bytes that are no objects', async () => {
    const digest = sha3256(utf8('a'))
    const file = await packed([{ kind: 'data', digest, bytes: utf8('a') }])
    const parts = decodeTrailer(file.subarray(-trailerBytes), file.length)
    for (const [at, value] of [
      [36, 9],
      [36, 7],
      [42, 2],
      [47, 1],
    ] as const) {
      const damaged = file.slice()
      damaged[parts.indexAt + at] = value
      const read = async (start: number, end: number): Promise<Uint8Array> => damaged.slice(start, end)
      await expect(findInIndex(parts, { kind: 'data', digest }, read)).rejects.toThrow(DecodeError)
    }
  })

  test('of a version that is not known is refused by name', async () => {
    const trailer = (await packed([])).slice(-trailerBytes)
    trailer[8] = 2
    expect(() => decodeTrailer(trailer, trailer.length)).toThrow(/version 2/)
  })
})

const none = hashText(new Uint8Array(32))

describe('a summary', () => {
  const sizes = fc
    .array(fc.integer({ min: 1, max: 16 }), { minLength: 256, maxLength: 256 })
    .map((all) => all.slice(0, all.findIndex((_, i) => all.slice(0, i + 1).reduce((a, b) => a + b, 0) >= 256) + 1))

  test('says of each commit and block what was added, after encoding too', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 0, max: 5 }), async (blocks, most) => {
        const commits = commitsOf(blocks, (sequence) => (most === 0 ? 0 : sequence % most))
        const made = await summaryOf(commits)
        const read = await decodeSummary(encodeSummary(made))
        expect(read).toEqual(made)
        let sequence = 0
        let rows = 0
        for (const { record, blocks: all } of commits) {
          expect(commitIn(read, sequence)).toEqual(record)
          for (let i = 1; i < all.length; i++) expect(commitIn(read, sequence + i)).toBeUndefined()
          for (const { event } of all) {
            const { newData, newCheckpoint }: Partial<AddData> = event.kind === 'AddData' ? event : {}
            rows += read.block.rows[sequence] ?? 0
            expect({
              isOfLog: read.block.log[sequence] !== 0,
              checkpoint: hashIn(read.block.checkpoint, sequence),
              slice: hashIn(read.block.slice, sequence),
              end: newData && rows - 1,
            }).toEqual({
              isOfLog: event.kind === 'AddData',
              checkpoint: newCheckpoint?.physicalHash ?? none,
              slice: newData?.physicalHash ?? none,
              end: newData?.offsetInterval.end,
            })
            sequence++
          }
        }
        expect(endOfPack(read)).toEqual({ sequence, offset: rows, previous: hashOfBlock(sequence - 1) })
      }),
      { numRuns: 30 },
    )
  })

  test('is refused when it is damaged in any way that its numbers show, and never breaks the reader', async () => {
    const bytes = encodeSummary(await summaryOf(ordinary))
    const place = fc.integer({ min: 0, max: bytes.length - 1 })
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const damaged = bytes.slice()
        damaged[at] = (damaged[at] ?? 0) ^ change
        const error = await decodeSummary(damaged).catch((cause: unknown) => cause)
        expect(!(error instanceof Error) || error instanceof DecodeError).toBe(true)
      }),
      { numRuns: 300 },
    )
    for (let length = 0; length < bytes.length; length += 97) {
      await expect(decodeSummary(bytes.slice(0, length))).rejects.toThrow(DecodeError)
    }
  })

  test('is that of a full range alone', async () => {
    await expect(summaryOf(ordinary.slice(0, -1))).rejects.toThrow(/does not cover/)
    await expect(async () => summaryOf([...ordinary, ...ordinary])).rejects.toThrow(/does not follow/)
    const longer = commitsOf([7, ...Array<number>(250).fill(1)], () => 1)
    await expect(summaryOf(longer)).rejects.toThrow(/does not cover/)
    await expect(summaryOf(ordinary, 1)).rejects.toThrow(/does not cover/)
  })

  test('does not take blocks that do not follow, or whose time is finer than a millisecond', () => {
    const first = must(ordinary[0], 'a commit')
    const block = must(first.blocks[0], 'a block')
    const add = (changed: Partial<MetadataBlock>) => (): void => {
      const builder = new SummaryBuilder({ dataset, level: 0, number: 0, sequence: 0, offset: 0 })
      builder.addCommit(first.record)
      builder.addBlock(none, { ...block, ...changed })
    }
    expect(add({})).not.toThrow()
    expect(add({ sequenceNumber: 1 })).toThrow(DecodeError)
    expect(add({ prevBlockHash: hashOfBlock(3) })).toThrow(DecodeError)
    expect(add({ systemTime: '2026-01-01T00:00:00.000001Z' })).toThrow(DecodeError)
  })
})
