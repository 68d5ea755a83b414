// Vectors of what several ledgers, or one statement more than once, say of a key: in which order they are given makes no difference.

import { JsonNumber } from '../../src/libraries/base/json/value.ts'
import {
  blockOf,
  domains,
  receiptOf,
  signedBy,
  SmallTree,
  statementOf,
} from '../../test/libraries/ledger/small-node.ts'
import {
  A,
  add,
  atLeak,
  beforeLeak,
  blocks,
  first,
  foreign,
  lines,
  log,
  next,
  nobody,
  originA,
  originB,
  originC,
  rotated,
  type Text,
} from './model.ts'
import { receipt, refused } from './receipts.ts'

const ofAll = lines(log(originA, 1), log(originB, 2), log(originC, 3), 'quorum none')
const proofIn = (tree: SmallTree, one: typeof first): Text => tree.text(one.documents.statement)
const [early, late] = ['2026-05-28T20:18:00.000Z', '2026-05-28T20:26:00.000Z']
const refusalAt = (time: string): Text => signedBy(7, domains.refusal, { ...refused, time })
const rotatedFact = { retired: { at: atLeak, why: 'rotated' } }
const leakedFact = { retired: { at: atLeak, why: 'leaked' } }

// The first ledger was renewed after the key was changed.
const active = statementOf(7, { ...A, time: '2026-05-02T00:00:00.000Z' })
const older = new SmallTree(originA, 1, [first, ...blocks, active])
const ofB = { origin: originB, key: 2, previous: older.previous() }
const goneInB = statementOf(8, { ...ofB, retired: [{ node: 7, at: atLeak, why: 'rotated' }] })
const newer = new SmallTree(originB, 2, [goneInB])
const both = [proofIn(older, active), proofIn(newer, goneInB)]
for (const [what, signed] of [
  ['refusal', refusalAt(late)],
  ['receipt without a promise', receiptOf(next, { by: null, time: late })],
] as const) {
  for (const [order, files] of [
    ['', both],
    [', in the other order', both.toReversed()],
  ] as const) {
    const name = `${what} from after its key was changed, as a younger ledger with fewer entries says${order}`
    add(name, 'not judged: signer', [signed, ...files], {
      policy: ofAll,
      boundBy: { ledger: originB, index: 0, size: 1 },
      ...rotatedFact,
    })
  }
}
const laterInC = statementOf(66, {
  origin: originC,
  key: 3,
  retired: [{ node: 7, at: '9999-01-01T00:00:00.000Z', why: 'rotated' }],
})
const longer = new SmallTree(originC, 3, [foreign, ...blocks, blockOf(1, 1), blockOf(1, 2), laterInC])
const renewed = new SmallTree(originA, 1, [first, rotated])
add(
  'refusal from after its key was changed, though a longer ledger of others says that it was changed in 9999',
  'not judged: signer',
  [refusalAt(late), proofIn(renewed, rotated), proofIn(longer, laterInC)],
  { policy: ofAll, boundBy: { ledger: originA, index: 1, size: 2 }, ...rotatedFact },
)

// Two ledgers claim the place of one, by its key.
const [claimB, claimC] = [statementOf(7, ofB), statementOf(7, { ...ofB, origin: originC, key: 3 })]
const leakedInB = statementOf(8, { origin: originB, key: 2, retired: [{ node: 7, at: beforeLeak, why: 'leaked' }] })
const [treeB, treeC] = [new SmallTree(originB, 2, [claimB, leakedInB]), new SmallTree(originC, 3, [claimC])]
const claims = [proofIn(treeB, claimB), proofIn(treeB, leakedInB), proofIn(treeC, claimC)]
for (const [order, files] of [
  ['first', claims],
  ['last', claims.toReversed()],
] as const) {
  add(
    `receipt whose key leaked, as the one says that is given ${order} of two that claim the place`,
    'not judged: signer',
    [receipt, older.text(next.documents.batch), proofIn(older, first), ...files],
    {
      policy: ofAll,
      boundBy: { ledger: originB, index: 1, size: 2 },
      retired: { at: beforeLeak, why: 'leaked' },
    },
  )
}

// One statement has a key twice.
for (const [order, whys] of [
  ['rotated and then leaked', ['rotated', 'leaked']],
  ['leaked and then rotated', ['leaked', 'rotated']],
] as const) {
  const retired = whys.map((why) => ({ node: 7, at: why === 'leaked' ? atLeak : beforeLeak, why }))
  const twice = statementOf(8, { ...A, retired })
  const tree = new SmallTree(originA, 1, [first, twice])
  add(
    `refusal of a key that was ${order} by one statement`,
    'not judged: signer',
    [refusalAt(early), proofIn(tree, twice)],
    { boundBy: { ledger: originA, index: 1, size: 2 }, ...leakedFact },
  )
}

// Times and numbers that some calendars and readers do not have.
for (const [what, more] of [
  ['made in the year 0', { time: '0000-02-29T00:00:00Z' }],
  ['that has a size with a point', { previous: { ...older.previous(), size: new JsonNumber('5.0') } }],
] as const) {
  const odd = statementOf(7, { ...A, ...more })
  add(`proof of a statement ${what}`, 'included', [proofIn(new SmallTree(originA, 1, [odd]), odd)], { policy: nobody })
}
