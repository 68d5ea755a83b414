// What a signed receipt promises, and when it is kept or broken: what the vectors beside this file do not say, because it takes all
// entries of a ledger, and the words in which it is told.

import { expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { fromPlain, jsonText, parseJson } from '../../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../../src/libraries/base/json/value.ts'
import { kindOfFile } from '../../../src/libraries/ledger/file-kind.ts'
import { type Absent, besideOf, headFacts, judgePromise } from '../../../src/libraries/ledger/judge-receipt.ts'
import { openHead } from '../../../src/libraries/ledger/open-head.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import {
  brokenPromiseJson,
  openReceipt,
  openRefusal,
  parseBrokenPromise,
} from '../../../src/libraries/ledger/signed-receipt.ts'
import { keyText, origin, signedHead, twoOfThree } from './keys.ts'
import { SmallLedger } from './proofs.ts'
import { nodeKey, signedReceipt, signedRefusal } from './receipts.ts'
import { blockOf, didOf, receiptOf, SmallTree, statementOf } from './small-node.ts'

const ledger = new SmallLedger(40)
const policy = parsePolicy(utf8(`${twoOfThree}log ${keyText('next.example/ledger', 2, 1)}\n`))
const timeOf = (ms: number): string => new Date(ms).toISOString()
/** Witnesses sign at 1,780,000,001 and later. */
const witnessedMs = 1_780_000_001_000
const long = timeOf(witnessedMs - 120_000)

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
})

const [first, block, next] = [statementOf(7, { origin, key: 1 }), blockOf(0, 0), blockOf(0, 1)]
const short = new SmallTree(origin, 1, [first, block])
const proofOfFirst = short.text(first.documents.statement)

/** The verdict where all entries below a head were read that has the first block and not the next, which is promised. */
function judgeAbsent({
  witnesses = [1, 3],
  by = long,
  nowMs = witnessedMs,
  files = [proofOfFirst],
  end,
  policy: of = policy,
}: {
  witnesses?: number[]
  by?: string
  nowMs?: number
  files?: Uint8Array[]
  end?: Absent['end']
  policy?: typeof policy
} = {}) {
  const opened = openHead(short.head({ witnesses }), of)
  if (!opened.ok) throw new Error(opened.reason)
  const { promise, ...rest } = openReceipt(receiptOf(next, { by }))
  const absent = [{ head: headFacts(opened), ...(end && { end }) }]
  return judgePromise({ ...rest, promise: promise! }, { ...besideOf(files, of), absent }, { policy: of, nowMs })
}

test('a promise is broken by a later head without the entry, if a quorum says that it is later by a minute', () => {
  expect(judgeAbsent()).toMatchObject({
    verdict: 'promise broken',
    reason: `A head that the witnesses signed after ${long} does not hold the promised entry.`,
    facts: { boundBy: { ledger: origin, index: 0, size: 2 } },
    by: [{ index: 0 }],
  })
  expect(judgeAbsent({ by: timeOf(witnessedMs - 61_000) }).verdict).toBe('promise broken')
  expect(judgeAbsent({ by: timeOf(witnessedMs - 60_000) }).verdict).toBe('promised, not yet due')
  expect(judgeAbsent({ witnesses: [1] })).toMatchObject({ verdict: 'not judged', missing: 'ledger' })
  const nobody = parsePolicy(utf8(twoOfThree.replace('quorum G', 'quorum none')))
  expect(judgeAbsent({ witnesses: [], policy: nobody })).toMatchObject({ verdict: 'not judged', missing: 'ledger' })
  expect(judgeAbsent({ files: [] })).toMatchObject({ verdict: 'not judged', missing: 'signer' })
})

test('a promise is broken by the end of a ledger whose place another took, signed by a key of the first one', () => {
  const previous = short.previous()
  const end = { size: 2, root: short.root() }
  const next = (node: number) => statementOf(node, { origin: 'next.example/ledger', key: 2, previous })
  const proof = (one: typeof first, of = 'next.example/ledger', key = 2): Uint8Array =>
    new SmallTree(of, key, [one]).text(one.documents.statement)
  const due = { by: '2099-01-01T00:00:00.000Z', end }
  expect(judgeAbsent({ ...due, files: [proofOfFirst, proof(next(7))] })).toMatchObject({
    verdict: 'promise broken',
    reason: 'next.example/ledger took the place of the ledger, which ended without the promised entry.',
  })
  for (const files of [[proofOfFirst], [proofOfFirst, proof(next(66))]]) {
    expect(judgeAbsent({ ...due, files }).verdict).toBe('promised, not yet due')
  }
  for (const other of [undefined, { size: 1, root: short.root(1) }, { size: 2, root: short.root(1) }]) {
    const judged = judgeAbsent({ ...due, end: other, files: [proofOfFirst, proof(next(7))] })
    expect(judged.verdict).toBe('promised, not yet due')
  }
  const leaked = statementOf(8, { origin, key: 1, retired: [{ node: 7, at: '2026-06-01T00:00:00Z', why: 'leaked' }] })
  const files = [proofOfFirst, proof(leaked, origin, 1), proof(next(8))]
  expect(judgeAbsent({ ...due, files })).toMatchObject({ verdict: 'not judged', missing: 'signer' })
})

test('a promise is one until a minute after its time, and what is far off is said to be', () => {
  const judge = (by: string, nowMs: number) => judgeAbsent({ by, nowMs, witnesses: [] })
  const by = '2026-05-28T20:21:30.000Z'
  const byMs = Date.parse(by)
  expect(judge(by, byMs)).toMatchObject({ verdict: 'promised, not yet due', reason: `It is due at ${by}.` })
  const late = `It was due at ${by}, and counts as broken only a minute later.`
  expect(judge(by, byMs + 60_000)).toMatchObject({ verdict: 'promised, not yet due', reason: late })
  expect(judge(by, byMs + 60_001)).toMatchObject({ verdict: 'not judged', missing: 'ledger' })
  const days = (Date.parse('9999-12-31T23:59:59Z') - Date.parse('2026-05-28T20:20:00Z')) / 86_400_000
  expect(judge('9999-12-31T23:59:59Z', byMs)).toMatchObject({
    verdict: 'promised, not yet due',
    reason: `It is due only at 9999-12-31T23:59:59.000Z, ${Math.floor(days)} days after it was signed: no node asks for so long.`,
  })
})

test('whose key is gone is said with the time', () => {
  const gone = (why: 'rotated' | 'leaked', at: string): unknown => {
    const told = statementOf(8, { origin, key: 1, retired: [{ node: 7, at, why }] })
    return judgeAbsent({ files: [new SmallTree(origin, 1, [told]).text(told.documents.statement)] })
  }
  const [before, after] = ['2026-05-28T20:19:00.000Z', '2026-05-28T20:21:00.000Z']
  expect([gone('rotated', before), gone('leaked', before), gone('leaked', after)]).toMatchObject([
    { reason: `The key of the signer was changed at ${before}, and signed after that.` },
    { reason: `The key of the signer leaked at ${before}, and signed after that.` },
    { reason: `The key of the signer leaked at ${after}: that its promise is not kept may be the work of a thief.` },
  ])
  expect(judgeAbsent({ files: [] })).toMatchObject({ reason: expect.stringContaining(didOf(7)) })
})

test('a broken promise is a file, which goes to text and back', () => {
  const { index, hashes, head } = ledger.proof(5, 9, 'block')
  const found = { entry: ledger.blocks[5]!.entry, index, hashes }
  const broken = { receipt: signedReceipt(ledger, 5, { by: long }), head, found, proofs: [] }
  const document = parseJson(jsonText(brokenPromiseJson(broken))) as JsonObject
  const read = parseBrokenPromise(document)
  expect(openReceipt(read.receipt).signer).toBe(nodeKey.did)
  expect({ ...read, receipt: broken.receipt }).toEqual(broken)
  expect(() => parseBrokenPromise(new Map([...document, ['more', 1 as never]]))).toThrow('broken promise: ')
})

test('each kind of file is told by what it holds', () => {
  const receipt = signedReceipt(ledger, 5, { by: long })
  const refusal = signedRefusal()
  const head = signedHead({ size: 9, root: ledger.root(9) })
  const broken = brokenPromiseJson({ receipt, head, proofs: [] })
  const json = (value: unknown): Uint8Array => utf8(jsonText(fromPlain(value)))
  const others = [json({ input: {}, commitment: {}, proof: {} }), json([1]), utf8('{"a":'), utf8('a,b\n1,2\n')]
  for (const [kind, ...files] of [
    ['proof', ledger.text(5, 9, 'row')],
    ['head', head],
    ['receipt', json(receipt)],
    ['refusal', json(refusal), json({ status: 422, refusal })],
    ['broken promise', json(broken), json({ file: 'a', evidence: broken })],
    ['other', ...others, new Uint8Array(600), new Uint8Array()],
  ] as const) {
    for (const file of files) expect(kindOfFile(file).kind).toBe(kind)
  }
})
