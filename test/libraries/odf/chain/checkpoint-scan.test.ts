// A checkpoint that is read in pieces says the same as one that is read whole, however it is cut; damage is told.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CheckpointScan, idPrefix } from '../../../../src/libraries/odf/chain/checkpoint-scan.ts'
import {
  type CheckpointContent,
  decodeCheckpoint,
  encodeCheckpoint,
  type IdGroup,
} from '../../../../src/libraries/odf/chain/checkpoint.ts'
import { sha3Hash } from '../../../../src/libraries/base/ids/identifiers.ts'
import { utf8 } from '../../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../../src/libraries/base/errors.ts'
import { batchId } from '../../../node/builder/support.ts'

const hash = sha3Hash(utf8('x'))
const known = fc.nat(1000).map((seed) => ({ id: batchId(String(seed)), bodyHash: sha3Hash(utf8(`body ${seed}`)) }))
const group = fc.record({
  number: fc.nat(5),
  timeMs: fc.integer({ min: -1e12, max: 2e12 }),
  ids: fc.array(known, { maxLength: 30 }),
})
const contents: fc.Arbitrary<CheckpointContent> = fc.record({
  number: fc.nat(5),
  log: fc.string({ maxLength: 20, unit: 'binary' }),
  partition: fc.nat(10),
  next: fc.nat(1000),
  moved: fc.integer({ min: -1, max: 100 }),
  outcomes: fc.array(
    fc.record({
      id: fc.nat(1000).map((seed) => batchId(String(seed))),
      position: fc.nat(1000),
      index: fc.nat(5),
      status: fc.constantFrom(
        { kind: 'committed', start: 0, end: 7 } as const,
        { kind: 'rejected', error: 'HeadMoved', message: 'moved: "ids":[[' } as const,
      ),
    }),
    { maxLength: 10 },
  ),
  attempts: fc.constantFrom([], [{ writer: '"ids":[', n: 1, count: 3, positions: [1, 2] }]),
  writers: fc.constantFrom([], [{ writer: 'w', n: 7 }]),
  ids: fc.array(group, { maxLength: 6 }),
  earlier: fc.constantFrom({}, { previous: hash }, { previous: hash, group: hash, era: hash }),
  sliceWriter: fc.constant('slice-1, zstd 1.5.7'),
})

interface Taken {
  readonly number: number
  readonly timeMs: number
  readonly high: number
  readonly low: number
}

function scan(pieces: readonly Uint8Array[]): { content: CheckpointContent; taken: Taken[] } {
  const taken: Taken[] = []
  const one = new CheckpointScan(({ number, timeMs }, high, low) => taken.push({ number, timeMs, high, low }))
  for (const piece of pieces) one.push(piece)
  return { content: one.finish(), taken }
}

function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let at = 0
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1
    pieces.push(bytes.slice(at, at + size))
    at += size
  }
  return pieces
}

const sizes = fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 8 })

test('pieces of any size give the content, with the own ids alone, and all ids in order', () => {
  fc.assert(
    fc.property(contents, sizes, (content, pieces) => {
      // Only the last group can be of the checkpoint's own block.
      const ids = content.ids.filter((one, i) => one.number !== content.number || i === content.ids.length - 1)
      const bytes = encodeCheckpoint({ ...content, ids })
      const scanned = scan(cut(bytes, pieces))
      const whole = decodeCheckpoint(bytes)
      expect(scanned.content).toEqual({ ...whole, ids: whole.ids.filter((one) => one.number === whole.number) })
      const all = ids.flatMap((one: IdGroup) =>
        one.ids.map(({ id }) => ({ number: one.number, timeMs: one.timeMs, ...idPrefix(id) })),
      )
      expect(scanned.taken).toEqual(all)
    }),
  )
})

/** What is read, but for the ids. Lets through what is no DecodeError. */
function withoutIds(read: () => CheckpointContent): unknown {
  try {
    return { ...read(), ids: [] }
  } catch (error) {
    if (error instanceof DecodeError) return 'damaged'
    throw error
  }
}

test('bytes that are damaged or cut off are no checkpoint, or one that is read the same whole', () => {
  const harm = fc.record({ at: fc.nat(), byte: fc.nat(255), end: fc.nat() })
  fc.assert(
    fc.property(contents, sizes, harm, (content, pieces, { at, byte, end }) => {
      const bytes = encodeCheckpoint(content)
      bytes[at % bytes.length] = byte
      const left = end % 2 === 0 ? bytes : bytes.subarray(0, end % bytes.length)
      const whole = withoutIds(() => decodeCheckpoint(left))
      const scanned = withoutIds(() => scan(cut(left, pieces)).content)
      const either = whole === 'damaged' ? scanned : whole
      expect(scanned === 'damaged' ? either : scanned).toEqual(either)
    }),
  )
})

test('a prefix is of 43 digits of base64url', () => {
  expect(idPrefix('A'.repeat(43))).toEqual({ high: 0, low: 0 })
  expect(idPrefix(`____-_____${'A'.repeat(33)}`)).toEqual({ high: 2 ** 30 - 2, low: 2 ** 30 - 1 })
  for (const id of ['', 'A'.repeat(42), 'A'.repeat(44), `+${'A'.repeat(42)}`]) {
    expect(() => idPrefix(id)).toThrow(DecodeError)
  }
})
