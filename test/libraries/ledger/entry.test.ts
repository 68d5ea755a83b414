// Entries, secrets and roots: their bytes, recomputed here from the words of the specification, and what each of them hides.

import { createHmac } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { concatBytes, equalBytes, toHex, utf8 } from '../../../src/libraries/base/bytes.ts'
import { canonicalText } from '../../../src/libraries/base/json/canonical.ts'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import {
  blockTag,
  datasetTag,
  entryBytes,
  noRoot,
  parseEntry,
  promisedBytes,
} from '../../../src/libraries/ledger/entry.ts'
import {
  batchRecord,
  type BatchRecord,
  batchSalt,
  isBelow,
  recordLeaf,
  recordsRoot,
  rowSalt,
} from '../../../src/libraries/ledger/roots.ts'
import { recordPlace } from '../../../src/libraries/ledger/tiled-tree.ts'
import {
  allSecrets,
  blockSalt,
  datasetSaltOf,
  datasetSecretsFromJson,
  secretOf,
  secretsFromJson,
  secretsToJson,
  secretsUpTo,
  secretsWithout,
  SecretWalk,
} from '../../../src/libraries/ledger/secrets.ts'
import { sha256, slowRoot } from './rfc6962.ts'

const key = sha256(utf8('ledger key'))
const hmac = (by: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array => {
  const made = createHmac('sha256', by)
  for (const part of parts) made.update(part)
  return new Uint8Array(made.digest())
}
const u64 = (value: number): Uint8Array => {
  const out = Buffer.alloc(8)
  out.writeBigUInt64BE(BigInt(value))
  return out
}
/** Leaf s of the tree over the key, bit after bit. */
const slowSecret = (s: number): Uint8Array =>
  Array.from({ length: 40 }, (_, i) => Math.floor(s / 2 ** (39 - i)) % 2).reduce(
    (node, bit) => hmac(node, Uint8Array.of(bit)),
    key,
  )

const sequence = fc.oneof(fc.nat(300), fc.nat(2 ** 31 - 1), fc.integer({ min: 0, max: 2 ** 40 - 1002 }))

describe('secrets', () => {
  const all = allSecrets(key)

  test('are the leaves of the tree over the ledger key', () => {
    fc.assert(
      fc.property(sequence, (s) => {
        expect(secretOf(all, s)).toEqual(slowSecret(s))
      }),
      { numRuns: 60 },
    )
    expect(datasetSaltOf(key)).toEqual(hmac(key, utf8('dataset')))
    expect(() => secretOf(all, 2 ** 40)).toThrow('below 2^40')
  })

  test('up to a block come from the fewest nodes, and later ones do not', () => {
    fc.assert(
      fc.property(sequence, fc.nat(), (last, at) => {
        const nodes = secretsUpTo(all, last)
        const ones = (last + 1).toString(2).replaceAll('0', '').length
        expect(nodes).toHaveLength(ones)
        expect(nodes.some(({ path }) => path === '')).toBe(false)
        const before = at % (last + 1)
        expect(secretOf(nodes, before)).toEqual(slowSecret(before))
        expect(secretOf(nodes, last)).toEqual(slowSecret(last))
        expect(secretOf(nodes, last + 1)).toBeUndefined()
        expect(secretOf(nodes, last + 1 + (at % 1000))).toBeUndefined()
      }),
      { numRuns: 60 },
    )
  })

  test('without some that were erased give all the others, up to a head too', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(400), { minLength: 1, maxLength: 5 }), fc.nat(400), (erased, last) => {
        const left = erased.reduce(secretsWithout, all)
        const shown = secretsUpTo(left, last)
        for (let s = 0; s <= 400; s++) {
          const isLeft = !erased.includes(s)
          expect(secretOf(left, s) !== undefined).toBe(isLeft)
          expect(secretOf(shown, s) !== undefined).toBe(isLeft && s <= last)
        }
        expect(secretOf(shown, last) ?? slowSecret(last)).toEqual(slowSecret(last))
      }),
      { numRuns: 20 },
    )
  })

  test('one after another are the same, forward and at random', () => {
    const walk = new SecretWalk(all)
    for (let s = 0; s < 200; s++) expect(walk.secretOf(s)).toEqual(slowSecret(s))
    for (const s of [7, 2 ** 40 - 1, 0, 255, 256]) expect(walk.secretOf(s)).toEqual(slowSecret(s))
    const some = new SecretWalk(secretsWithout(secretsUpTo(all, 20), 5))
    expect([4, 5, 6, 20, 21].map((s) => some.secretOf(s))).toEqual([
      slowSecret(4),
      undefined,
      slowSecret(6),
      slowSecret(20),
      undefined,
    ])
  })

  test('are held in 38 bytes each, and found among 200,000', () => {
    const pathOf = (s: number) => s.toString(2).padStart(40, '0')
    const pairs = (count: number) =>
      Array.from({ length: count }, (_, i): [string, string] => [pathOf(2 * i), toHex(sha256(utf8(`${i}`)))])
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void // what the flag exposes
    const held = (): number => {
      collect()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    const before = held()
    const { secrets } = datasetSecretsFromJson(toHex(key), pairs(200_000))
    expect((held() - before) / 200_000).toBeLessThan(50)
    const found = Array.from({ length: 200_000 }, (_, i) => secrets.secretOf(2 * i))
    expect(found).toEqual(Array.from({ length: 200_000 }, (_, i) => sha256(utf8(`${i}`))))
    expect([1, 399_997, 399_999, 2 ** 39].map((s) => secrets.secretOf(s))).toEqual(Array.from({ length: 4 }))
    expect([399_997, 399_998].map((s) => secrets.hasAfter(s))).toEqual([true, false])
  })

  test('go to JSON and back, and are refused in another form', () => {
    const nodes = secretsUpTo(all, 12)
    const json = secretsToJson(nodes)
    expect(json.map(([path]) => path.length)).toEqual([37, 38, 40])
    expect(secretsFromJson(json)).toEqual(nodes)
    const hex = toHex(key)
    for (const no of [[['2', hex]], [['0'.repeat(41), hex]], [['0', hex.toUpperCase()]], [['0', 'ab']]] as [
      string,
      string,
    ][][]) {
      expect(() => secretsFromJson(no)).toThrow('a path and hex')
    }
    expect(() =>
      secretsFromJson([
        ['01', hex],
        ['0', hex],
      ]),
    ).toThrow('below another')
  })
})

describe('an entry', () => {
  const salt = datasetSaltOf(key)
  const did = `did:odf:fed01${'ab'.repeat(32)}`
  const hash = `f1620${'cd'.repeat(32)}`
  const entry = {
    kind: 'block',
    datasetTag: datasetTag(salt, did),
    sequence: 258,
    blockTag: blockTag(blockSalt(slowSecret(258)), hash),
    batchRoot: sha256(utf8('batches')),
    rowRoot: noRoot,
  } as const

  test('of a block has 137 bytes in this order', () => {
    const expected = concatBytes([
      Uint8Array.of(1),
      hmac(salt, utf8(did)),
      u64(258),
      hmac(hmac(slowSecret(258), utf8('block')), Buffer.from(`1620${'cd'.repeat(32)}`, 'hex')),
      entry.batchRoot,
      new Uint8Array(32),
    ])
    expect(entryBytes(entry)).toEqual(expected)
    expect(expected).toHaveLength(137)
    expect(parseEntry(expected)).toEqual(entry)
    expect(promisedBytes).toBe(1 + 32 + 8 + 32)
  })

  test('of a statement has 33', () => {
    const bytes = concatBytes([Uint8Array.of(2), sha256(utf8('{}'))])
    expect(parseEntry(bytes)).toEqual({ kind: 'statement', hash: sha256(utf8('{}')) })
    expect(entryBytes({ kind: 'statement', hash: sha256(utf8('{}')) })).toEqual(bytes)
  })

  test('of another kind is of a newer ledger, and one of another length is none', () => {
    for (const kind of [0, 3, 255]) expect(parseEntry(Uint8Array.of(kind, 1, 2))).toEqual({ kind: 'newer' })
    for (const bytes of [entryBytes(entry).subarray(0, -1), Uint8Array.of(2), new Uint8Array(0)]) {
      expect(() => parseEntry(bytes)).toThrow(/^ledger entry: /)
    }
    const far = entryBytes(entry)
    far[33] = 0xff
    expect(() => parseEntry(far)).toThrow('beyond 2^53-1')
  })

  test('is what its bytes say, and other bytes are another entry', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 137, maxLength: 137 }), (some) => {
        const bytes = Uint8Array.from(some)
        bytes[0] = 1
        bytes[33] = 0
        bytes[34] = bytes[34]! & 31
        const read = parseEntry(bytes)
        expect(read.kind !== 'newer' && entryBytes(read)).toEqual(bytes)
      }),
    )
  })
})

describe('a root', () => {
  const records = Array.from({ length: 600 }, (_, i) => fromPlain({ offset: i, text: `row ${i}` }))
  const secret = slowSecret(3)
  const leaves = records.map((record, i) => recordLeaf(rowSalt(secret, i), record))

  test('is over the count and the tree of salted records', () => {
    expect(batchSalt(secret, 5)).toEqual(hmac(secret, utf8('batch'), u64(5)))
    expect(rowSalt(secret, 5)).toEqual(hmac(secret, utf8('row'), u64(5)))
    expect(leaves[5]).toEqual(sha256(Uint8Array.of(0), rowSalt(secret, 5), utf8('{"offset":5,"text":"row 5"}')))
    for (const count of [1, 2, 3, 255, 256, 257, 600]) {
      expect(recordsRoot(leaves.slice(0, count))).toEqual(sha256(u64(count), slowRoot(leaves, '', 0, count)))
    }
    expect(recordsRoot([])).toEqual(noRoot)
  })

  test('is of batches as they came out', () => {
    const [id, bodyHash] = ['AAAA', `f1620${'ef'.repeat(32)}`]
    const json = (batch: BatchRecord): string => canonicalText(batchRecord(batch))
    expect(json({ id, bodyHash, status: 'committed', offsets: { start: 3, end: 5 } })).toBe(
      `{"bodyHash":"${bodyHash}","id":"AAAA","offsets":{"end":5,"start":3},"status":"committed"}`,
    )
    expect(json({ id, bodyHash, status: 'rejected', error: 'SchemaChanged' })).toBe(
      `{"bodyHash":"${bodyHash}","error":"SchemaChanged","id":"AAAA","status":"rejected"}`,
    )
  })

  test('proves each record at its place among so many, and no other', () => {
    const placed = fc
      .integer({ min: 1, max: 600 })
      .chain((count) => fc.record({ count: fc.constant(count), index: fc.nat(count - 1), other: fc.nat(count) }))
    fc.assert(
      fc.property(placed, ({ count, index, other }) => {
        const some = leaves.slice(0, count)
        const root = recordsRoot(some)
        const place = recordPlace(some, index)
        expect(isBelow(root, leaves[index]!, place)).toBe(true)
        expect(isBelow(root, leaves[index]!, { ...place, index: other })).toBe(other === index)
        expect(isBelow(root, leaves[index]!, { ...place, count: other })).toBe(other === count)
        expect(isBelow(root, leaves[index]!, { ...place, path: [...place.path, root] })).toBe(false)
        expect(isBelow(noRoot, leaves[index]!, place)).toBe(false)
        expect(equalBytes(recordLeaf(rowSalt(secret, index + 1), records[index]!), leaves[index]!)).toBe(false)
      }),
      { numRuns: 100 },
    )
  })
})
