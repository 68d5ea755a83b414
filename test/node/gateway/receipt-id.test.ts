// Receipt ids: what goes in comes out, under the right secret alone.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeReceiptId, encodeReceiptId, type ReceiptNote } from '../../../src/node/gateway/receipt-id.ts'
import { datasetIdText, hashText, sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { concatBytes, utf8 } from '../../../src/libraries/base/bytes.ts'

const secret = utf8('one secret')
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
const natural = fc.integer({ min: 0, max: 2 ** 48 - 1 })
const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
})

const keyed = fc.record({
  dataset: bytes32.map((key) => datasetIdText(Uint8Array.of(0xed, 0x01, ...key))),
  batchId: bytes32.map((id) => Buffer.from(id).toString('base64url')),
  bodyHash: bytes32.map(hashText),
  partition: fc.nat(65_535),
  index: fc.nat(65_535),
  position: natural,
  log: bytes32.map((id) => Buffer.from(id).toString('hex', 16)),
  rows: natural,
  bytes: natural,
  receivedMs: natural,
  acceptedMs: natural,
  mediaType: fc.constantFrom('text/csv', 'application/json'),
  tokenId: fc.option(visible, { nil: undefined }),
  key: fc.option(fc.oneof(visible, fc.constant('k'.repeat(255))), { nil: undefined }),
})

const producer = fc.record({ identity: bytes32.map(hashText), epoch: natural, last: natural })
const notes: fc.Arbitrary<ReceiptNote> = fc.oneof(
  keyed,
  fc.tuple(keyed, producer).map(([note, of]) => ({ ...note, producer: of })),
)

test('an id carries its note', () => {
  fc.assert(
    fc.property(notes, (note) => {
      const id = encodeReceiptId(note, secret)
      expect(id).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(decodeReceiptId(id, secret)).toEqual(note)
      expect(decodeReceiptId(id, utf8('another secret'))).toBeUndefined()
    }),
    { numRuns: 200 },
  )
})

test('an id whose last character has other spare bits is none', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  fc.assert(
    fc.property(notes, (note) => {
      const id = encodeReceiptId(note, secret)
      const others = Array.from(alphabet)
        .map((last) => id.slice(0, -1) + last)
        .filter((other) => other !== id)
      for (const other of others) expect(decodeReceiptId(other, secret)).toBeUndefined()
    }),
    { numRuns: 20 },
  )
})

test('an id of another version is none, whoever sealed it', () => {
  fc.assert(
    fc.property(notes, fc.integer({ min: 2, max: 255 }), (note, version) => {
      const bytes = Buffer.from(encodeReceiptId(note, secret), 'base64url')
      bytes[0] = version
      const sealed = bytes.subarray(0, -12)
      const seal = sha3Hash(concatBytes([secret, sealed])).slice('f1620'.length, 'f1620'.length + 24)
      expect(
        decodeReceiptId(Buffer.concat([sealed, Buffer.from(seal, 'hex')]).toString('base64url'), secret),
      ).toBeUndefined()
    }),
    { numRuns: 50 },
  )
})

test('an id with any change is none', () => {
  const changed = fc.tuple(notes, fc.nat(), fc.integer({ min: 1, max: 255 }))
  fc.assert(
    fc.property(changed, ([note, at, bits]) => {
      const bytes = Buffer.from(encodeReceiptId(note, secret), 'base64url')
      const index = at % bytes.length
      bytes[index] = (bytes[index] ?? 0) ^ bits
      expect(decodeReceiptId(bytes.toString('base64url'), secret)).toBeUndefined()
    }),
    { numRuns: 200 },
  )
})

test('text that is no id is none', () => {
  for (const text of ['', 'x', 'A'.repeat(300), '/../../etc/passwd', 'ü'.repeat(300), 'A'.repeat(5000)]) {
    expect(decodeReceiptId(text, secret)).toBeUndefined()
  }
})
