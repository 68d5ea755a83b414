// Two heads of one size with different roots, both signed by a ledger of the policy: each file has a remark. What nobody has signed
// accuses nobody.

import { expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../../src/libraries/base/json/value.ts'
import { judgeEvidence } from '../../../src/libraries/evidence/judge.ts'
import { bareReport } from '../../../src/libraries/evidence/report.ts'
import { blockOf, showsOf, withHistories } from '../../../src/libraries/evidence/two-histories.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { signedHead, twoOfThree } from '../ledger/keys.ts'
import { SmallLedger } from '../ledger/proofs.ts'

const policy = parsePolicy(utf8(twoOfThree))
const row = (text: string): JsonObject => fromPlain({ text }) as JsonObject
const [one, other] = [new SmallLedger(9, row('one')), new SmallLedger(9, row('other'))]
const headOf = (ledger: SmallLedger, size = 9): Uint8Array => signedHead({ size, root: ledger.root(size) })

const remarked = (files: readonly Uint8Array[], by: typeof policy | undefined = policy): boolean[] =>
  judgeEvidence(files, { policy: by, nowMs: Date.parse('2026-06-01T00:00:00Z') }).map(
    (judged) => judged?.report.remarks.some((text) => text.includes('two histories')) === true,
  )

test('is told of heads and of proofs, on both files and on no third', () => {
  expect(remarked([headOf(one), headOf(other)])).toEqual([true, true])
  expect(remarked([headOf(one), one.text(3, 9, 'row'), other.text(3, 9, 'block')])).toEqual([true, true, true])
  expect(remarked([headOf(one), headOf(other), headOf(one, 8)])).toEqual([true, true, false])
})

test('is told of packs whose bundles have different blocks at one place, once on each', () => {
  const report = bareReport({ what: 'an evidence pack', verdict: 'verified', headline: 'Whole' })
  const packOf = (...hashes: readonly string[]) => {
    const blocks = hashes.map((hash, number) => [blockOf('did:odf:fed01', number), hash] as const)
    return { report, shows: showsOf([], blocks) }
  }
  const told = withHistories([packOf('a', 'b', 'c'), packOf('a', 'x', 'y', 'z'), packOf('a')])
  const remark =
    'Another of these files has another block 1 of did:odf:fed01. There are two histories of it: keep both files.'
  expect(told.map((one) => one.report.remarks)).toEqual([[remark], [remark], []])
})

test('is not told of one history, nor of heads that no ledger of the policy has signed', () => {
  expect(remarked([headOf(one), headOf(one), one.text(3, 9, 'row')])).toEqual([false, false, false])
  expect(remarked([headOf(one, 8), headOf(other, 9)])).toEqual([false, false])
  expect(judgeEvidence([headOf(one), headOf(other)], { nowMs: 0 }).flatMap((judged) => judged?.report.remarks)).toEqual(
    [],
  )
})
