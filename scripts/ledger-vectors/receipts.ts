// Vectors of refusals, statements and receipts by themselves, and of whose promise a receipt is.

import { jsonText } from '../../src/libraries/base/json/json.ts'
import { canonicalBytes } from '../../src/libraries/base/json/canonical.ts'
import type { JsonObject } from '../../src/libraries/base/json/value.ts'
import { didOf, domains, object, receiptOf, signedBy } from '../../test/libraries/ledger/small-node.ts'
import {
  blockShown,
  log,
  lines,
  ofOthers,
  first,
  rotated,
  leaked,
  rotatedBefore,
  rotatedAgain,
  instead,
  tree,
  swapped,
  keys,
  foreign,
  treeC,
  text,
  add,
  none,
  proofs,
  allShown,
  bound,
  originA,
  originC,
  atLeak,
  next,
} from './model.ts'

// Refusals, statements and receipts by themselves.
export const refused = {
  dataset: { id: next.dataset.id, alias: 'me/lab' },
  bodyHash: next.batchRecord.get('bodyHash'),
  kind: 'SchemaMismatch',
  errors: [],
  time: '2026-05-28T20:20:00.000Z',
}
const refusal = signedBy(7, domains.refusal, refused)
add('refusal with a time that is none', 'altered', [signedBy(7, domains.refusal, { ...refused, time: 'soon' })], none)
add('refusal', 'signed', [refusal], none)
const wrong = [1, 2, 3, 4].map((at) => ({ record: at, kind: 'WrongType', message: `'x${at}' is no Int64.` }))
const unborn = signedBy(7, domains.refusal, { ...refused, dataset: { alias: 'me/lab' }, errors: wrong })
add('refusal of a dataset that was not there yet, with what was wrong', 'signed', [unborn], none)
add('refusal of no dataset', 'altered', [signedBy(7, domains.refusal, { ...refused, dataset: {} })], none)
add('refusal in its problem', 'signed', [object({ status: 422, refusal })], none)
add('refusal by another than the one that is named', 'altered', [refusal], { ...none, signer: didOf(8) })
add('refusal that is changed', 'altered', [jsonText(refusal).replace('SchemaMismatch', 'SchemaConflict')], none)
add('statement by itself', 'signed', [canonicalBytes(first.documents.statement.statement)], none)
add('statement that is not canonical', 'altered', [` ${jsonText(first.documents.statement.statement)}`], none)
const plain = receiptOf(next, { by: null })
add('receipt without a promise', 'signed', [plain], none)
add('receipt without a promise, by the one that is named', 'signed', [plain], { ...none, ...bound.reader })
add('receipt without a promise, by another than the one that is named', 'altered', [plain], {
  ...none,
  signer: didOf(8),
})
add('receipt that is not signed', 'impossible', [new Map([...plain].filter(([name]) => name !== 'proof'))], none)
add('receipt without a time', 'altered', [signedBy(7, domains.receipt, without(plain, 'time'))])
add('receipt without the id of its batch', 'altered', [signedBy(7, domains.receipt, without(plain, 'batchId'))])

function without(document: JsonObject, ...names: readonly string[]): object {
  return new Map([...document].filter(([name]) => name !== 'proof' && !names.includes(name)))
}

// Whose promise it is.
export const receipt = receiptOf(next)
add('receipt without a policy', 'not judged: policy', [receipt], none)
add('receipt about a ledger that the policy lacks', 'not judged: policy', [receipt, proofs.batch], {
  ...bound.reader,
  boundBy: undefined as never, // the policy counts first
  policy: ofOthers,
})
add('receipt whose signer nobody names', 'not judged: signer', [receipt])
add('receipt whose signer nobody names, with the proof of its batch', 'included', [receipt, proofs.batch], allShown)
add('receipt whose signer nobody names, with the proof of its block', 'not judged: signer', [receipt, proofs.block])
add(
  'receipt whose signer a statement names, without an entry',
  'not judged: ledger',
  [receipt, proofs.first],
  bound.first,
)
add('receipt whose signer the reader names, without an entry', 'not judged: ledger', [receipt], bound.reader)
add('receipt of a stranger', 'not judged: signer', [receiptOf(next, { key: 66 }), proofs.batch, proofs.first])
add('receipt of a stranger whom nothing denies', 'included', [receiptOf(next, { key: 66 }), proofs.batch], allShown)
add('receipt of a stranger that is due in 2099', 'not judged: signer', [
  receiptOf(next, { key: 66, by: '2099-01-01T00:00:00.000Z' }),
  proofs.first,
])
add(
  'receipt of a stranger whom a statement of another ledger names',
  'not judged: signer',
  [receiptOf(next, { key: 66 }), proofs.block, proofs.first, treeC.text(foreign.documents.statement)],
  { policy: lines(log(originA, 1), log(originC, 3), 'quorum none') },
)
add('receipt with a statement that is no entry', 'not judged: signer', [
  receipt,
  proofs.block,
  canonicalBytes(first.documents.statement.statement),
])
add('receipt with an altered proof of a statement', 'not judged: signer', [
  receipt,
  proofs.block,
  text(proofs.first).replace('\nindex 0\n', '\nindex 1\n'),
])
add('receipt by another than the one that is named', 'altered', [receipt, proofs.batch], { signer: didOf(8) })
add('receipt that is changed', 'altered', [jsonText(receipt).replace('me/lab', 'me/lob'), proofs.batch, proofs.first])
const fewWitnesses = tree.text(first.documents.statement, { witnesses: [] })
add(
  'receipt whose signer is named below a head that the ledger alone signed',
  'included',
  [receipt, proofs.block, fewWitnesses],
  { ...bound.first, ...blockShown },
)

// Keys that are retired.
export const proofOf = (one: typeof first): Uint8Array => keys.text(one.documents.statement)
const late = receiptOf(next, { time: '2026-05-28T20:26:00.000Z', by: '2026-05-28T20:27:30.000Z' })
const atOnce = receiptOf(next, { time: atLeak, by: '2026-05-28T20:26:30.000Z' })
const statedAt = (index: number) => ({ boundBy: { ledger: originA, index, size: 9 } }) as const
const rotatedFact = { retired: { at: atLeak, why: 'rotated' } }
export const leakedFact = { retired: { at: atLeak, why: 'leaked' } }
add('receipt from before its key was changed', 'included', [receipt, proofs.batch, proofOf(first), proofOf(rotated)], {
  ...statedAt(4),
  ...rotatedFact,
  ...allShown,
})
add('receipt from the moment when its key was changed', 'included', [atOnce, proofs.batch, proofOf(rotated)], {
  ...statedAt(4),
  ...rotatedFact,
})
add(
  'receipt from after its key was changed',
  'not judged: signer',
  [late, proofs.batch, proofOf(first), proofOf(rotated)],
  {
    ...statedAt(4),
    ...rotatedFact,
  },
)
add(
  'receipt from after its key was changed, where the reader names it',
  'not judged: signer',
  [late, proofs.batch, proofOf(rotated)],
  { ...bound.reader, ...rotatedFact },
)
add(
  'receipt from after its key was changed, of which nobody tells',
  'included',
  [late, proofs.batch, proofOf(first)],
  statedAt(0),
)
add(
  'receipt by the key that took the place',
  'included',
  [receiptOf(next, { key: 8 }), proofs.batch, proofOf(rotated)],
  {
    ...statedAt(4),
  },
)
add('receipt whose key leaked later', 'included', [receipt, proofs.batch, proofOf(leaked)], {
  ...statedAt(5),
  ...leakedFact,
})
add('receipt from after its key leaked', 'not judged: signer', [late, proofs.batch, proofOf(first), proofOf(leaked)], {
  ...statedAt(5),
  ...leakedFact,
})
add(
  'receipt whose key leaked, though it is said to be rotated later and earlier',
  'not judged: signer',
  [late, proofs.batch, proofOf(rotated), proofOf(leaked), proofOf(rotatedAgain)],
  { ...statedAt(5), ...leakedFact },
)
add(
  'receipt whose key was rotated earlier by one statement and later by the newest',
  'included',
  [receipt, proofs.batch, proofOf(rotatedBefore), proofOf(rotatedAgain)],
  { ...statedAt(8), ...rotatedFact },
)
add(
  'receipt whose key leaked, and another block is in its place',
  'not judged: signer',
  [receipt, swapped.text(instead.documents.block), proofOf(leaked)],
  { ...statedAt(5), ...leakedFact },
)
add(
  'receipt whose key was changed, and another block is in its place',
  'promise broken',
  [receipt, swapped.text(instead.documents.block), proofOf(rotated)],
  { ...statedAt(4), ...rotatedFact },
)
add(
  'receipt whose key leaked, not yet due',
  'not judged: signer',
  [receiptOf(next, { by: '2099-01-01T00:00:00.000Z' }), proofOf(leaked)],
  { ...statedAt(5), ...leakedFact },
)
add(
  'receipt whose key leaked, under a head of one witness',
  'witness quorum not met',
  [receipt, tree.text(next.documents.batch, { witnesses: [2] }), proofOf(leaked)],
  { ...statedAt(5), ...leakedFact },
)

// What a key signs that promises nothing.
const plainLate = receiptOf(next, { by: null, time: '2026-05-28T20:26:00.000Z' })
const refusalLate = signedBy(7, domains.refusal, { ...refused, time: '2026-05-28T20:26:00.000Z' })
for (const [what, early, later] of [
  ['receipt without a promise', plain, plainLate],
  ['refusal', refusal, refusalLate],
] as const) {
  const [byRotated, byLeaked] = [
    { ...statedAt(4), ...rotatedFact },
    { ...statedAt(5), ...leakedFact },
  ]
  add(`${what} whose signer a statement names`, 'signed', [early, proofOf(first)], statedAt(0))
  add(`${what} from before its key was changed`, 'signed', [early, proofOf(rotated)], byRotated)
  add(`${what} from after its key was changed`, 'not judged: signer', [later, proofOf(rotated)], byRotated)
  add(`${what} whose key leaked later, by its own word`, 'not judged: signer', [early, proofOf(leaked)], byLeaked)
  add(`${what} from after its key leaked`, 'not judged: signer', [later, proofOf(first), proofOf(leaked)], byLeaked)
  add(`${what} whose key leaked, where the reader names it`, 'not judged: signer', [early, proofOf(leaked)], {
    ...bound.reader,
    ...leakedFact,
  })
  add(`${what} whose key leaked by a ledger that the policy lacks`, 'signed', [early, proofOf(leaked)], {
    policy: ofOthers,
  })
  add(`${what} of another key than one that leaked`, 'signed', [
    what === 'refusal' ? signedBy(8, domains.refusal, refused) : receiptOf(next, { by: null, key: 8 }),
    proofOf(leaked),
  ])
}
