// Vectors of what became of promises: kept, broken, not yet due, and of ledgers whose place another took.

import type { JsonObject } from '../../src/libraries/base/json/value.ts'
import type { ProofDocument } from '../../src/libraries/ledger/proof-document.ts'
import { brokenPromiseJson } from '../../src/libraries/ledger/signed-receipt.ts'
import { object, receiptOf, SmallTree } from '../../test/libraries/ledger/small-node.ts'
import {
  blocks,
  allShown,
  nobody,
  three,
  ofBoth,
  first,
  leaked,
  instead,
  tree,
  swapped,
  short,
  renewed,
  renewedLeaked,
  renewedByStranger,
  treeB,
  type Text,
  add,
  none,
  proofs,
  bound,
  blockShown,
  originA,
  originB,
  beforeLeak,
  block,
  other,
  next,
} from './model.ts'
import { receipt, proofOf, leakedFact } from './receipts.ts'

// What became of it.
const withFirst = (one: JsonObject, ...files: readonly Text[]): Text[] => [one, ...files, proofs.first]
add('receipt with the proof of its batch', 'included', withFirst(receipt, proofs.batch), {
  ...bound.first,
  ...allShown,
})
/** Two witnesses sign, the second one so many seconds after the deadline. */
const late = (seconds: number) => ({ at: Date.parse('2026-05-28T20:21:27Z') / 1000 + seconds })
const seenLate = (seconds: number): Text[] => withFirst(receipt, tree.text(next.documents.batch, late(seconds)))
add('receipt whose entry witnesses saw by the deadline', 'included', seenLate(0), allShown)
add('receipt whose entry one of two witnesses saw by the deadline', 'included', seenLate(1), allShown)
add('receipt whose entry a witness saw by the deadline, where nobody is asked for', 'included', seenLate(1), {
  policy: nobody.replace('quorum', `${three.join('\n')}\nquorum`),
})
add('receipt whose block witnesses saw by the deadline, and its batch later', 'included', [
  ...withFirst(receipt, proofs.batch),
  tree.text(next.documents.block, late(0)),
])
add('receipt with the proof of its batch as JSON', 'included', withFirst(receipt, tree.json(next.documents.batch)), {
  ...bound.first,
  ...allShown,
})
const inOne = (more: object = {}): JsonObject => {
  const all = [next.documents.batch, first.documents.statement].map((one) => JSON.parse(tree.json(one)) as object)
  return object({ type: 'proofstream/receipt-with-proofs/1', receipt, proofs: all, policy: nobody, ...more })
}
add('receipt in one file with its proofs', 'included', [inOne()], { ...bound.first, ...allShown })
add('receipt in one file with its proofs, without a policy but its own', 'not judged: policy', [inOne()], none)
add('receipt in one file with a proof that is altered', 'altered', [
  inOne({ proofs: [JSON.parse(tree.json(next.documents.batch).replace('committed', 'rejected'))] }),
])
add('receipt in one file with one more member', 'altered', [inOne({ signer: 'me' })])
add('receipt in one file, not signed', 'impossible', [
  inOne({ receipt: new Map([...receipt].filter(([name]) => name !== 'proof')) }),
])
add('receipt with the proof of its block', 'included', withFirst(receipt, proofs.block), {
  ...bound.first,
  ...blockShown,
})
add(
  'receipt with the proof of a row of its block',
  'included',
  withFirst(receipt, tree.text(next.documents.row)),
  blockShown,
)
add(
  'receipt with the proof of another batch of its block',
  'included',
  withFirst(receipt, tree.text(next.documents.rejected)),
  {
    ...blockShown,
  },
)
add('receipt by the one that the reader names, with the proof of its batch', 'included', [receipt, proofs.batch], {
  ...bound.reader,
  ...allShown,
})
add(
  'receipt with the proof of a batch of another dataset',
  'not judged: ledger',
  withFirst(receipt, tree.text(other.documents.batch)),
)
add(
  'receipt with the proof of a batch of another block',
  'not judged: ledger',
  withFirst(receipt, tree.text(block.documents.batch)),
)
add(
  'receipt under a head of one witness',
  'witness quorum not met',
  withFirst(receipt, tree.text(next.documents.batch, { witnesses: [2] })),
)
add(
  'receipt under heads of one witness and of two',
  'included',
  withFirst(receipt, tree.text(next.documents.batch, { witnesses: [2] }), proofs.block),
  blockShown,
)
add('receipt under a head where nobody is asked for', 'included', withFirst(receipt, proofs.batch), {
  policy: nobody,
  ...allShown,
})
const lie = (more: object): JsonObject => receiptOf(next, { more })
add(
  'receipt with a false hash of its body',
  'promise broken',
  withFirst(lie({ bodyHash: other.batchRecord.get('bodyHash') }), proofs.batch),
  bound.first,
)
add(
  'receipt with false offsets',
  'promise broken',
  withFirst(lie({ offsets: { start: 0, end: 9 } }), proofs.batch),
  bound.first,
)
add(
  'receipt without the offsets of its batch',
  'promise broken',
  withFirst(lie({ offsets: undefined }), proofs.batch),
  bound.first,
)
add(
  'receipt with offsets of more members than two',
  'altered',
  withFirst(lie({ offsets: { start: 0, end: 2, rows: 3 } }), proofs.batch),
)
add(
  'receipt with false offsets, and the proof of its block alone',
  'included',
  withFirst(lie({ offsets: { start: 0, end: 9 } }), proofs.block),
  blockShown,
)
const lost = (more: object): JsonObject =>
  lie({ batchId: 'late-0-1', bodyHash: next.documents.rejected.record.get('bodyHash'), ...more })
add(
  'receipt that calls a rejected batch committed',
  'promise broken',
  withFirst(lost({}), tree.text(next.documents.rejected)),
  bound.first,
)
add(
  'receipt of a key whose batch was rejected once',
  'included',
  withFirst(lost({ idempotencyKey: 'k' }), tree.text(next.documents.rejected)),
  blockShown,
)
add(
  'receipt with a false block',
  'promise broken',
  withFirst(lie({ block: { hash: instead.block.hash, sequence: 1 } }), proofs.batch),
  bound.first,
)
add(
  'receipt with a false dataset',
  'not judged: ledger',
  withFirst(lie({ dataset: { id: other.dataset.id, alias: 'me/x' } }), proofs.batch),
  bound.first,
)
add(
  'receipt with a false sequence',
  'not judged: ledger',
  withFirst(lie({ block: { hash: next.block.hash, sequence: 5 } }), proofs.batch),
  bound.first,
)
add(
  'receipt with another salt',
  'promise broken',
  withFirst(receiptOf(next, { promise: { blockSalt: '0'.repeat(64) } }), proofs.batch),
  bound.first,
)
add(
  'receipt with another block in the promised place',
  'promise broken',
  withFirst(receipt, swapped.text(instead.documents.block)),
  bound.first,
)
add(
  'receipt with another block in the promised place, below a head that the ledger alone signed',
  'promise broken',
  withFirst(receipt, swapped.text(instead.documents.block, { witnesses: [] })),
  bound.first,
)
add(
  'receipt with its entry in one head and another block in another',
  'included',
  withFirst(receipt, swapped.text(instead.documents.block), proofs.block),
  blockShown,
)
add('receipt with a promise and no block', 'altered', withFirst(lie({ block: undefined }), proofs.batch))
add('receipt with a promise and not committed', 'altered', withFirst(lie({ status: 'accepted' }), proofs.batch))
add('receipt with a salt that is none', 'altered', withFirst(receiptOf(next, { promise: { datasetSalt: 'ab' } })))
add(
  'receipt that promises the beginning of an entry',
  'altered',
  withFirst(receiptOf(next, { promise: { entry: 'AQ==' } })),
)
for (const by of ['2026-02-30T00:00:00Z', '2026-05-01T24:00:00Z', '2026-05-01T00:00:00+00:00', 'soon']) {
  add(`receipt due at ${by}`, 'altered', withFirst(receiptOf(next, { by })))
}

// Time.
const due = '2026-06-01T00:00:00.000Z'
const young = receiptOf(next, { by: due })
add('receipt that is not yet due', 'promised, not yet due', withFirst(young), {
  ...bound.first,
  now: '2026-05-31T00:00:00.000Z',
})
add('receipt a minute after it was due', 'promised, not yet due', withFirst(young), { now: '2026-06-01T00:01:00.000Z' })
add('receipt more than a minute after it was due', 'not judged: ledger', withFirst(young), {
  now: '2026-06-01T00:01:00.001Z',
})
add('receipt that is due in 9999', 'promised, not yet due', withFirst(receiptOf(next, { by: '9999-12-31T23:59:59Z' })))
add('receipt that is due later, and is there', 'included', withFirst(young, proofs.batch), {
  now: '2026-05-31T00:00:00.000Z',
})

// Broken promises as files.
const broken = (of: Parameters<typeof brokenPromiseJson>[0]): JsonObject => brokenPromiseJson(of) as JsonObject // it is one
const proofIn = (one: SmallTree, document: ProofDocument): JsonObject =>
  object(JSON.parse(one.json(document)) as object)
const swap = swapped.proof(instead.documents.block)
const found = { entry: instead.entry, index: swap.index, hashes: swap.hashes }
const statedIn = proofIn(tree, first.documents.statement)
const evidence = broken({ receipt, head: swap.head, found, proofs: [statedIn] })
add('broken promise', 'promise broken', [evidence], bound.first)
add('broken promise in what verify prints', 'promise broken', [object({ file: 'a', evidence })], bound.first)
add('broken promise without a policy', 'not judged: policy', [evidence], none)
add('broken promise without a statement', 'not judged: signer', [
  broken({ receipt, head: swap.head, found, proofs: [] }),
])
add(
  'broken promise without a statement, of the one that the reader names',
  'promise broken',
  [broken({ receipt, head: swap.head, found, proofs: [] })],
  bound.reader,
)
add(
  'broken promise without a statement, with its proof beside',
  'promise broken',
  [broken({ receipt, head: swap.head, found, proofs: [] }), proofs.first],
  bound.first,
)
add(
  'broken promise by the proof of a batch',
  'promise broken',
  [
    broken({
      receipt: lie({ offsets: { start: 0, end: 9 } }),
      proofs: [proofIn(tree, next.documents.batch), statedIn],
    }),
  ],
  bound.first,
)
add('broken promise whose entry is not at its place', 'altered', [
  broken({ receipt, head: swap.head, found: { ...found, index: 2 }, proofs: [statedIn] }),
])
add('broken promise with an entry of another block', 'altered', [
  broken({ receipt, head: tree.head(), found: foundIn(tree, block.documents.block), proofs: [statedIn] }),
])
add(
  'broken promise with the promised entry',
  'included',
  [broken({ receipt, head: tree.head(), found: foundIn(tree, next.documents.block), proofs: [statedIn] })],
  { ...bound.first, ...blockShown },
)
add(
  'broken promise without an entry, which takes the ledger',
  'not judged: ledger',
  [broken({ receipt, head: short.head(), proofs: [statedIn] })],
  bound.first,
)
add('broken promise with an altered proof', 'altered', [
  broken({ receipt, head: swap.head, found, proofs: [object({ ...Object.fromEntries(statedIn), x: 1 })] }),
])
add('broken promise whose key leaked', 'not judged: signer', [evidence, proofOf(leaked)], leakedFact)

function foundIn(one: SmallTree, document: ProofDocument) {
  const { index, hashes } = one.proof(document)
  return { entry: document.entry, index, hashes }
}

// A ledger whose place another took.
const byRenewed = { policy: ofBoth, boundBy: { ledger: originB, index: 0, size: 6 } } as const
const renewal = (one: typeof first): Uint8Array => treeB.text(one.documents.statement)
const oldBlock = receiptOf(block)
add(
  'receipt of a renewed ledger that was kept',
  'included',
  [oldBlock, short.text(block.documents.batch), short.text(first.documents.statement), renewal(renewed)],
  { ...byRenewed, ...allShown },
)
add(
  'receipt of a renewed ledger, whose successor alone names the signer',
  'not judged: signer',
  [oldBlock, short.text(block.documents.block), renewal(renewed)],
  { policy: ofBoth },
)
add(
  'receipt of a renewed ledger, whose successor the policy lacks',
  'included',
  [oldBlock, short.text(block.documents.batch), short.text(first.documents.statement), renewal(renewedLeaked)],
  { boundBy: { ledger: originA, index: 0, size: 2 } },
)
add(
  'receipt of a renewed ledger, whose entry the new one alone has',
  'not judged: ledger',
  [receipt, treeB.text(next.documents.batch), short.text(first.documents.statement), renewal(renewed)],
  byRenewed,
)
add(
  'receipt of a renewed ledger that is not yet due',
  'promised, not yet due',
  [young, short.text(first.documents.statement), renewal(renewed)],
  { ...byRenewed, now: '2026-05-31T00:00:00.000Z' },
)
add(
  'receipt whose key leaked, as the successor says',
  'not judged: signer',
  [
    oldBlock,
    short.text(block.documents.batch),
    short.text(first.documents.statement),
    renewal(renewed),
    renewal(renewedLeaked),
  ],
  { policy: ofBoth, boundBy: { ledger: originB, index: 1, size: 6 }, retired: { at: beforeLeak, why: 'leaked' } },
)
const strange = new SmallTree(originB, 2, [renewedByStranger, ...blocks])
add(
  'receipt by the node of a ledger that claims the place',
  'not judged: signer',
  [
    receiptOf(block, { key: 66 }),
    short.text(block.documents.block),
    short.text(first.documents.statement),
    strange.text(renewedByStranger.documents.statement),
  ],
  { policy: ofBoth },
)
