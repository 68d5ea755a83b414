// What the vectors of test/fixtures/ledger do not say of files of every kind: their kind may be known before, and nothing that
// is changed is taken.

import { expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { fromPlain, jsonText } from '../../../src/libraries/base/json/json.ts'
import { kindOfFile } from '../../../src/libraries/ledger/file-kind.ts'
import { judgeFile } from '../../../src/libraries/ledger/judge-file.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { proofJsonText } from '../../../src/libraries/ledger/proof-document.ts'
import { brokenPromiseJson } from '../../../src/libraries/ledger/signed-receipt.ts'
import { statementBytes } from '../../../src/libraries/ledger/statement.ts'
import { origin, signedHead, twoOfThree } from './keys.ts'
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

test('what told the kind of a document in JSON is judged, any number of times, and its bytes are not read again', () => {
  const isText = ['proof', 'few witnesses', 'head', 'head, few witnesses', 'statement']
  for (const [name, bytes] of Object.entries(files).filter(([one]) => !isText.includes(one))) {
    const kind = kindOfFile(bytes)
    for (const trust of [{ nowMs }, { nowMs, policy }]) {
      expect([name, judgeFile(new Uint8Array(), trust, { file: kind })]).toEqual([name, judgeFile(bytes, trust)])
    }
  }
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
