// What a signed receipt promises, and when it is kept or broken: judged by a stranger who has the policy and what the ledger signed.

import { describe, expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { fromPlain, jsonText, parseJson } from '../../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../../src/libraries/base/json/value.ts'
import { blockEntryBytes } from '../../../src/libraries/ledger/entry.ts'
import { kindOfFile } from '../../../src/libraries/ledger/file-kind.ts'
import {
  answersPromise,
  brokenPromiseJson,
  judgePromise,
  type LedgerPromise,
  lookedIn,
  openReceipt,
  openRefusal,
  parseBrokenPromise,
} from '../../../src/libraries/ledger/judge-receipt.ts'
import { openHead } from '../../../src/libraries/ledger/open-head.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { generateNodeKey } from '../../../src/libraries/proof/sign.ts'
import { signedHead, twoOfThree } from './keys.ts'
import { SmallLedger } from './proofs.ts'
import { nodeKey, signedReceipt, signedRefusal } from './receipts.ts'

const ledger = new SmallLedger(40)
const policy = parsePolicy(utf8(twoOfThree))
const nobody = parsePolicy(utf8(twoOfThree.replace('quorum G', 'quorum none')))
/** Witnesses sign at 1,780,000,001 and later. */
const witnessedMs = 1_780_000_001_000
const timeOf = (ms: number): string => new Date(ms).toISOString()
const long = timeOf(witnessedMs - 120_000)

function opened(size: number, witnesses = [1, 3], by = policy) {
  const head = openHead(signedHead({ size, root: ledger.root(size) }, { witnesses }), by)
  if (!head.ok) throw new Error(head.reason)
  return head
}

function promiseOf(index: number, by: string): LedgerPromise {
  const { promise } = openReceipt(signedReceipt(ledger, index, { by }))
  if (promise === undefined) throw new Error('no promise')
  return promise
}

const at = (index: number) => ({ entry: ledger.blocks[index]!.entry, index })

test('a receipt says who has signed it and what is promised, and no changed one is taken', () => {
  const receipt = signedReceipt(ledger, 5, { by: '2026-05-28T20:26:40.000Z' })
  expect(openReceipt(receipt)).toMatchObject({
    signer: nodeKey.did,
    status: 'committed',
    block: { sequence: 1 },
    promise: { ledger: 'node.example/ledger', byMs: 1_780_000_000_000 },
  })
  expect(openReceipt(signedReceipt(ledger, 5, {}))).not.toHaveProperty('promise')
  expect(openRefusal(signedRefusal())).toMatchObject({ signer: nodeKey.did, kind: 'SchemaMismatch' })
  const text = jsonText(receipt)
  for (const [from, to] of [
    ['"sequence":1', '"sequence":2'],
    ['committed', 'accepted'],
    ['me/lab', 'me/lob'],
    ['2026-05', '2027-05'],
    ['"proofValue":"u', '"proofValue":"uA'],
    ['"type":"E', '"type":"D'],
  ] as const) {
    expect(text).toContain(from)
    expect(() => openReceipt(parseJson(text.replace(from, to)) as JsonObject)).toThrow(/^(?:signature|proof): /)
  }
  // What is signed in one domain is nothing in another.
  expect(() => openRefusal(receipt)).toThrow('signature')
  const other = { key: generateNodeKey(), by: long, more: { block: { hash: 'f', sequence: 7 } } }
  expect(() => openReceipt(signedReceipt(ledger, 5, other))).toThrow('another block')
  const members: object[] = [
    { promise: { ledger: 'a', by: 'soon', entry: 'AQ==' } },
    { promise: { ledger: 'a', by: long, entry: 'AQ==' } },
    { promise: { ledger: 'a', by: long } },
  ]
  for (const more of members) expect(() => openReceipt(signedReceipt(ledger, 5, { more }))).toThrow('receipt: ')
  // Date.parse takes days and hours that are not there.
  for (const by of [
    '2026-02-30T00:00:00Z',
    '2026-05-01T24:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-05-01T00:00:00+00:00',
  ]) {
    expect(() => openReceipt(signedReceipt(ledger, 5, { by }))).toThrow('is not a time in UTC')
  }
})

describe('a promise', () => {
  const judge = (promise: LedgerPromise, looked?: Parameters<typeof judgePromise>[1], nowMs = witnessedMs) =>
    judgePromise(promise, looked, { policy, nowMs })

  test('is kept by its entry, under a head that enough have signed', () => {
    const promise = promiseOf(5, long)
    expect(ledger.blocks.filter(({ entry }) => answersPromise(promise, entry))).toHaveLength(1)
    expect(judge(promise, { opened: opened(9), found: at(5) })).toEqual({
      verdict: 'included',
      index: 5,
      quorum: 'met',
    })
    expect(judge(promise, { opened: opened(9, [2]), found: at(5) }).verdict).toBe('witness quorum not met')
    const alone = { opened: opened(9, [], nobody), found: at(5) }
    expect(judgePromise(promise, alone, { policy: nobody, nowMs: witnessedMs })).toMatchObject({ quorum: 'none' })
  })

  test('is broken by another block in its place, whoever has signed the head', () => {
    const entry = Uint8Array.from(ledger.blocks[5]!.entry)
    entry[50]! ^= 1
    const promise = promiseOf(5, timeOf(witnessedMs + 1e9))
    expect(answersPromise(promise, entry)).toBe(true)
    expect(judge(promise, { opened: opened(9, []), found: { entry, index: 5 } }).verdict).toBe('promise broken')
    // Roots are not promised.
    const roots = Uint8Array.from(ledger.blocks[5]!.entry).fill(7, 73)
    expect(judge(promise, { opened: opened(9), found: { entry: roots, index: 5 } }).verdict).toBe('included')
    expect(answersPromise(promise, entry.subarray(0, 73))).toBe(false)
    expect(answersPromise(promise, new Uint8Array(blockEntryBytes))).toBe(false)
  })

  test('is broken by a later head without it, if a quorum says that it is later by a minute', () => {
    const without = { opened: opened(5) }
    expect(judge(promiseOf(5, long), without)).toMatchObject({ verdict: 'promise broken' })
    expect(judge(promiseOf(5, timeOf(witnessedMs - 61_000)), without).verdict).toBe('promise broken')
    expect(judge(promiseOf(5, timeOf(witnessedMs - 60_000)), without).verdict).toBe('promised, not yet due')
    expect(judge(promiseOf(5, long), { opened: opened(5, [1]) }).verdict).toBe('impossible')
    const alone = { opened: opened(5, [], nobody) }
    expect(judgePromise(promiseOf(5, long), alone, { policy: nobody, nowMs: witnessedMs }).verdict).toBe('impossible')
  })

  test('is a promise until a minute after its time, and then nobody knows without the ledger', () => {
    const promise = promiseOf(5, long)
    expect(judge(promise, undefined, promise.byMs + 60_000)).toMatchObject({
      verdict: 'promised, not yet due',
      reason: `It was due at ${long}, and counts as broken only a minute later.`,
    })
    expect(judge(promise, undefined, promise.byMs)).toMatchObject({ reason: `It is due at ${long}.` })
    expect(judge(promise, undefined, promise.byMs + 60_001).verdict).toBe('impossible')
  })
})

test('a broken promise is a file, which shows the entry in the promised place', () => {
  const { index, hashes } = ledger.proof(5, 9, 'block')
  const found = { entry: ledger.blocks[5]!.entry, index, hashes }
  const broken = { receipt: signedReceipt(ledger, 5, { by: long }), head: ledger.proof(5, 9, 'block').head, found }
  const document = parseJson(jsonText(brokenPromiseJson(broken))) as JsonObject
  const read = parseBrokenPromise(document)
  expect(openReceipt(read.receipt).signer).toBe(nodeKey.did)
  expect(lookedIn(read, opened(9))).toMatchObject({ found: { index: 5 } })
  expect(() => lookedIn({ ...read, found: { ...found, index: 4 } }, opened(9))).toThrow('not at this place')
  expect(() => parseBrokenPromise(new Map([...document, ['more', 1 as never]]))).toThrow('broken promise: ')
  const { found: _, ...bare } = broken
  expect(lookedIn(parseBrokenPromise(brokenPromiseJson(bare) as JsonObject), opened(9))).toBeUndefined()
})

test('each kind of file is told by what it holds', () => {
  const receipt = signedReceipt(ledger, 5, { by: long })
  const refusal = signedRefusal()
  const head = signedHead({ size: 9, root: ledger.root(9) })
  const broken = brokenPromiseJson({ receipt, head })
  const json = (value: unknown): Uint8Array => utf8(jsonText(fromPlain(value)))
  expect(
    [
      ledger.text(5, 9, 'row'),
      head,
      json(receipt),
      json(refusal),
      json({ status: 422, refusal }),
      json(broken),
      json({ file: 'a', evidence: broken }),
      json({ input: {}, commitment: {}, proof: {} }),
      json([1]),
      utf8('{"a":'),
      utf8('a,b\n1,2\n'),
      new Uint8Array(600),
      new Uint8Array(),
    ].map((bytes) => kindOfFile(bytes).kind),
  ).toEqual([
    'proof',
    'head',
    'receipt',
    'refusal',
    'refusal',
    'broken promise',
    'broken promise',
    ...Array(6).fill('other'),
  ])
})
