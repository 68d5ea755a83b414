// Files of every kind, judged by what they hold and a policy: nobody is asked, and nothing that is changed is taken.

import { expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { fromPlain, jsonText } from '../../../src/libraries/base/json/json.ts'
import { kindOfFile } from '../../../src/libraries/ledger/file-kind.ts'
import { judgeFile } from '../../../src/libraries/ledger/judge-file.ts'
import type { Trust } from '../../../src/libraries/ledger/judge-receipt.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { proofJsonText } from '../../../src/libraries/ledger/proof-document.ts'
import { brokenPromiseJson } from '../../../src/libraries/ledger/signed-receipt.ts'
import { statementBytes } from '../../../src/libraries/ledger/statement.ts'
import { generateNodeKey } from '../../../src/libraries/proof/sign.ts'
import { keyText, origin, signedHead, twoOfThree } from './keys.ts'
import { SmallLedger } from './proofs.ts'
import { nodeKey, otherHash, signedReceipt, signedRefusal } from './receipts.ts'

const ledger = new SmallLedger(9)
const [past, future] = ['2026-05-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z']
const nowMs = Date.parse('2026-06-01T00:00:00Z')
const policy = parsePolicy(utf8(twoOfThree))
const json = (value: unknown): Uint8Array => utf8(jsonText(fromPlain(value)))

const { index, hashes, head } = ledger.proof(5, 9, 'block')
const kept = { receipt: signedReceipt(ledger, 5, { by: past }), head, proofs: [] }
const swapped = { ...kept, receipt: signedReceipt(ledger, 5, { by: past, hash: otherHash }) }
const found = { entry: ledger.blocks[5]!.entry, index, hashes }
const time = '2026-05-01T00:00:00.000Z'
const statement = { ledger: { origin, keys: ['k'] }, version: '1', engines: [], retired: [], time }

const files = {
  proof: ledger.text(5, 9, 'row'),
  'proof as JSON': utf8(proofJsonText(ledger.blocks[5]!.documents.row, ledger.proof(5, 9, 'row'))),
  'few witnesses': ledger.text(5, 9, 'row', { witnesses: [2] }),
  head: signedHead({ size: 9, root: ledger.root(9) }),
  'head, few witnesses': signedHead({ size: 9, root: ledger.root(9) }, { witnesses: [] }),
  statement: statementBytes(statement, nodeKey),
  refusal: json({ status: 422, refusal: signedRefusal() }),
  'plain receipt': json(signedReceipt(ledger, 5, {})),
  promised: json(signedReceipt(ledger, 5, { by: future })),
  'was due': json(signedReceipt(ledger, 5, { by: past })),
  'promise broken': json({ evidence: brokenPromiseJson({ ...swapped, found }) }),
  'promise kept': json(brokenPromiseJson({ ...kept, found })),
  'entry not there': json(brokenPromiseJson(kept)),
  answer: json({ input: {}, commitment: {}, proof: {} }),
}

function verdicts(trust: Partial<Trust>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([name, bytes]) => {
      const judged = judgeFile(bytes, { nowMs, ...trust })
      if (judged.kind === 'other') return [name, 'other']
      return [name, 'missing' in judged ? `${judged.verdict}: ${judged.missing}` : judged.verdict]
    }),
  )
}

test('each kind of file has its verdict', () => {
  const byPolicy = {
    proof: 'included',
    'proof as JSON': 'included',
    'few witnesses': 'witness quorum not met',
    head: 'signed',
    'head, few witnesses': 'witness quorum not met',
    statement: 'signed',
    refusal: 'signed',
    'plain receipt': 'signed',
    // Anybody can sign a promise in the name of a ledger.
    promised: 'not judged: signer',
    'was due': 'not judged: signer',
    'promise broken': 'not judged: signer',
    'promise kept': 'not judged: signer',
    'entry not there': 'not judged: signer',
    answer: 'other',
  }
  expect(verdicts({ policy })).toEqual(byPolicy)
  expect(verdicts({ policy, signer: nodeKey.did })).toEqual({
    ...byPolicy,
    promised: 'promised, not yet due',
    'was due': 'not judged: ledger',
    'promise broken': 'promise broken',
    'promise kept': 'included',
    'entry not there': 'not judged: ledger',
  })
})

test('what told the kind of a document in JSON is judged, any number of times, and its bytes are not read again', () => {
  const isText = ['proof', 'few witnesses', 'head', 'head, few witnesses', 'statement']
  for (const [name, bytes] of Object.entries(files).filter(([one]) => !isText.includes(one))) {
    const kind = kindOfFile(bytes)
    for (const trust of [{ nowMs }, { nowMs, policy }]) {
      expect([name, judgeFile(new Uint8Array(), trust, { file: kind })]).toEqual([name, judgeFile(bytes, trust)])
    }
  }
})

test('a proof that does not lead to its head is altered, without a policy too', () => {
  const [text, json] = [files.proof, files['proof as JSON']].map((bytes) => Buffer.from(bytes).toString())
  for (const wrong of [
    text?.replace('\nindex 5\n', '\nindex 6\n'),
    json?.replace('"ledger":{"index":5', '"ledger":{"index":6'),
  ]) {
    expect([text, json]).not.toContain(wrong)
    for (const trust of [{ nowMs }, { nowMs, policy }]) {
      expect(judgeFile(utf8(wrong ?? ''), trust)).toMatchObject({ kind: 'proof', verdict: 'altered' })
    }
  }
})

test('a receipt that was never signed is not called altered: the reader learns how to get it signed', () => {
  const unsigned = new Map(signedReceipt(ledger, 5, {}))
  unsigned.delete('proof')
  for (const trust of [{ nowMs }, { nowMs, policy }, { nowMs, policy, signer: nodeKey.did }]) {
    expect(judgeFile(json(unsigned), trust)).toEqual({
      kind: 'receipt',
      verdict: 'impossible',
      reason: 'it is not signed: GET /receipts/{id}?include=signature gives it signed',
    })
  }
})

test('what a policy must say is missing without one, and what another key has signed is not taken', () => {
  const signed = { statement: 'signed', refusal: 'signed', 'plain receipt': 'signed', answer: 'other' }
  const missing = Object.fromEntries(Object.keys(files).map((name) => [name, 'not judged: policy']))
  expect(verdicts({})).toEqual({ ...missing, ...signed })
  const unknown = parsePolicy(utf8(`log ${keyText('other.example', 1, 1)}\nquorum none\n`))
  expect(verdicts({ policy: unknown })).toEqual({ ...missing, ...signed })
  const others = verdicts({ policy, signer: generateNodeKey().did })
  const byNode = ['statement', 'refusal', 'plain receipt', 'promised', 'was due', 'promise broken', 'promise kept']
  expect(byNode.map((name) => others[name])).toEqual(Array(byNode.length).fill('altered'))
  expect(others['proof']).toBe('included')
})

test('no document with a changed byte is taken', () => {
  for (const name of ['statement', 'plain receipt', 'promised', 'promise broken'] as const) {
    for (let at = 0; at < files[name].length; at += 7) {
      const changed = Uint8Array.from(files[name])
      changed[at]! ^= 1
      const judged = judgeFile(changed, { policy, nowMs, ...(name === 'promised' && { signer: nodeKey.did }) })
      // A witness whose key is no longer named may be missed, and no more than that.
      const taken = ['included', 'signed', 'promised, not yet due', 'promise broken']
      const isTaken = judged.kind !== 'other' && taken.includes(judged.verdict)
      expect([name, at, isTaken]).toEqual([name, at, false])
    }
  }
})
