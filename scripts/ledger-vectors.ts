// Writes test/fixtures/ledger/vectors.json: policies, heads, receipts, refusals, statements and proofs, true and false ones, by themselves
// and beside one another, each with the verdict that docs/spec/ledger.md gives it. Every judge of this repository has to say the
// same. Verdicts are written here by hand. `node scripts/ledger-vectors.ts` writes; a test compares.

import { writeFile } from 'node:fs/promises'
import { decodeUtf8, utf8 } from '../src/libraries/base/bytes.ts'
import { jsonText } from '../src/libraries/base/json/json.ts'
import { canonicalBytes } from '../src/libraries/base/json/canonical.ts'
import type { JsonObject } from '../src/libraries/base/json/value.ts'
import { headText } from '../src/libraries/ledger/head.ts'
import { noteOf, signNote } from '../src/libraries/ledger/note.ts'
import type { ProofDocument } from '../src/libraries/ledger/proof-document.ts'
import { brokenPromiseJson } from '../src/libraries/ledger/signed-receipt.ts'
import { signatureTypes, verifierKey, verifierKeyText } from '../src/libraries/ledger/verifier-key.ts'
import { keyText, signer, smallOrderSigner, witnessName } from '../test/libraries/ledger/keys.ts'
import {
  blockOf,
  didOf,
  domains,
  object,
  receiptOf,
  signedBy,
  SmallTree,
  statementOf,
} from '../test/libraries/ledger/small-node.ts'

/** The first file is judged, the others are beside it. `policy` is the text of one, `signer` whom the reader names. */
export interface Vector {
  readonly name: string
  readonly files: readonly { readonly name: string; readonly text: string }[]
  readonly policy?: string
  readonly signer?: string
  readonly now: string
  /** `policy refused`: it cannot be read. */
  readonly verdict: string
  /** Exit code of `verify`. */
  readonly code: number
  readonly missing?: string
  /** What a verdict on a receipt names, where it is not the verdict that matters alone. */
  readonly boundBy?: 'reader' | { readonly ledger: string; readonly index: number; readonly size: number }
  readonly retired?: { readonly at: string; readonly why: string }
  readonly shown?: readonly string[]
}

const codes: Readonly<Record<string, number>> = {
  included: 0,
  signed: 0,
  'promised, not yet due': 0,
  altered: 10,
  impossible: 11,
  'promise broken': 12,
  'witness quorum not met': 13,
  'not judged': 14,
  'policy refused': 5,
}

const [originA, originB, originC] = ['node.example/ledger', 'node.example/ledger/2', 'other.example/ledger']
const log = (origin: string, key: number): string => `log ${keyText(origin, key, signatureTypes.ed25519)}`
const witnessLine = (n: number): string => `witness W${n} ${keyText(witnessName(n), 10 + n)}`
const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`
const three = [1, 2, 3].map(witnessLine)
const twoOfThree = lines(log(originA, 1), ...three, 'group G 2 W1 W2 W3', 'quorum G')
const nobody = lines(log(originA, 1), 'quorum none')
const ofOthers = lines(log(originC, 3), 'quorum none')
const ofBoth = lines(log(originA, 1), log(originB, 2), ...three, 'group G 2 W1 W2 W3', 'quorum G')

const [atLeak, beforeLeak, afterAll] = [
  '2026-05-28T20:25:00.000Z',
  '2026-05-28T20:19:00.000Z',
  '2026-05-28T21:00:00.000Z',
]
const A = { origin: originA, key: 1 }
const first = statementOf(7, A)
const rotated = statementOf(8, { ...A, retired: [{ node: 7, at: atLeak, why: 'rotated' }] })
const leaked = statementOf(8, { ...A, retired: [{ node: 7, at: atLeak, why: 'leaked' }] })
const leakedBefore = statementOf(8, { ...A, retired: [{ node: 7, at: beforeLeak, why: 'leaked' }] })
const rotatedBefore = statementOf(8, { ...A, retired: [{ node: 7, at: beforeLeak, why: 'rotated' }] })
const rotatedAgain = statementOf(9, {
  ...A,
  retired: [
    { node: 7, at: atLeak, why: 'rotated' },
    { node: 8, at: afterAll, why: 'rotated' },
  ],
})
const blocks = [blockOf(0, 0), blockOf(1, 0), blockOf(0, 1)]
const [block, other, next] = blocks as [(typeof blocks)[0], (typeof blocks)[0], (typeof blocks)[0]]
/** Another block with the sequence of `next`. */
const instead = blockOf(0, 1, ' forged')
const tree = new SmallTree(originA, 1, [first, ...blocks])
const swapped = new SmallTree(originA, 1, [first, block, other, instead])
const keys = new SmallTree(originA, 1, [
  first,
  ...blocks,
  rotated,
  leaked,
  leakedBefore,
  rotatedBefore,
  rotatedAgain,
  rotated,
])
const short = new SmallTree(originA, 1, [first, block])
const renewed = statementOf(7, { origin: originB, key: 2, previous: short.previous() })
const renewedLeaked = statementOf(8, {
  origin: originB,
  key: 2,
  previous: short.previous(),
  retired: [{ node: 7, at: beforeLeak, why: 'leaked' }],
})
const renewedByStranger = statementOf(66, { origin: originB, key: 2, previous: short.previous() })
const treeB = new SmallTree(originB, 2, [renewed, renewedLeaked, renewedByStranger, ...blocks])
const misplaced = statementOf(7, { origin: originB, key: 2 })
const foreign = statementOf(66, { origin: originC, key: 3 })
const treeC = new SmallTree(originC, 3, [foreign, ...blocks])
const odd = new SmallTree(originA, 1, [misplaced, first, ...blocks])

type Text = Uint8Array | string | JsonObject
const text = (one: Text): string => {
  if (typeof one === 'string') return one
  return one instanceof Map ? jsonText(one) : decodeUtf8(one)
}
const vectors: Vector[] = []
const fileNames: Readonly<Record<string, string>> = { '{': '.json', c: '.tlog-proof' }

function add(
  name: string,
  verdict: string,
  files: readonly Text[],
  more: Partial<Omit<Vector, 'name' | 'files' | 'verdict' | 'code'>> = {},
): void {
  const named = files.map(text).map((one, at) => ({ name: `${at + 1}${fileNames[one[0] ?? ''] ?? ''}`, text: one }))
  const [word = '', missing] = verdict.split(': ')
  const code = codes[word]
  if (code === undefined) throw new TypeError(`no verdict: ${word}`)
  const by = { policy: twoOfThree, now: '2026-06-01T00:00:00.000Z', ...more }
  vectors.push({ name, files: named, ...by, verdict: word, code, ...(missing && { missing }) })
}

const none = { policy: undefined } as unknown as { policy: string } // left out of the file
const firstProof = tree.text(first.documents.statement)
const batchProof = tree.text(next.documents.batch)
const blockProof = tree.text(next.documents.block)
const byFirst = { boundBy: { ledger: originA, index: 0, size: 4 } } as const
const byReader = { signer: didOf(7), boundBy: 'reader' } as const
const allShown = { shown: ['dataset', 'block', 'bodyHash', 'status', 'offsets'] }
const blockShown = { shown: ['dataset', 'block'] }

// Proofs.
for (const [kind, document] of Object.entries(next.documents)) {
  add(`proof of a ${kind}`, 'included', [tree.text(document)])
  add(`proof of a ${kind} as JSON`, 'included', [tree.json(document)])
}
add('proof of a statement', 'included', [firstProof])
add('proof of a statement as JSON', 'included', [tree.json(first.documents.statement)])
add('proof without a policy', 'not judged: policy', [blockProof], none)
add('proof of a statement without a policy', 'not judged: policy', [firstProof], none)
add('proof of a ledger that the policy lacks', 'not judged: policy', [blockProof], { policy: ofOthers })
add('proof under a head of one witness', 'witness quorum not met', [tree.text(next.documents.row, { witnesses: [2] })])
add(
  'proof under a head of one witness, where nobody is asked for',
  'included',
  [tree.text(next.documents.row, { witnesses: [2] })],
  { policy: nobody },
)
add('proof with another index', 'altered', [text(blockProof).replace('\nindex 3\n', '\nindex 2\n')])
add(
  'proof with another index, without a policy',
  'altered',
  [text(blockProof).replace('\nindex 3\n', '\nindex 2\n')],
  none,
)
add(
  'proof with another index, of a ledger that the policy lacks',
  'altered',
  [text(blockProof).replace('\nindex 3\n', '\nindex 2\n')],
  { policy: ofOthers },
)
const extraOf = (document: ProofDocument, change: (json: string) => string): string => {
  const proof = text(tree.text(document))
  return proof.replace(/(?<=\nextra ).*/, (base64) => {
    const json = Buffer.from(base64, 'base64').toString()
    if (change(json) === json) throw new TypeError(`nothing changes in ${json}`)
    return Buffer.from(change(json)).toString('base64')
  })
}
add('proof of a block with another hash', 'altered', [
  extraOf(next.documents.block, (json) => json.replace(next.block.hash, other.block.hash)),
])
add('proof of a block with another dataset', 'altered', [
  extraOf(next.documents.block, (json) => json.replace(next.dataset.id, other.dataset.id)),
])
add('proof of a batch with another status', 'altered', [
  extraOf(next.documents.batch, (json) => json.replace('"committed"', '"rejected"')),
])
add('proof of a row with another value', 'altered', [
  extraOf(next.documents.row, (json) => json.replace('"level":0.5', '"level":1.5')),
])
add('proof of a row as one of a batch', 'altered', [
  extraOf(next.documents.row, (json) => json.replace('"kind":"row"', '"kind":"batch"')),
])
add('proof with a member that is not named', 'altered', [
  extraOf(next.documents.block, (json) => json.replace('"v":1', '"v":1,"x":1')),
])
add('proof whose path is an object', 'altered', [
  extraOf(next.documents.row, (json) => json.replace(/"path":\[[^\]]*\]/, '"path":{}')),
])
add('proof of a newer kind', 'impossible', [
  extraOf(next.documents.block, (json) => json.replace('"kind":"block"', '"kind":"bundle"')),
])
add('proof of a newer version', 'impossible', [extraOf(next.documents.block, (json) => json.replace('"v":1', '"v":2'))])
add('proof without an extra line', 'impossible', [text(blockProof).replace(/\nextra .*/, '')])
add('proof of a statement in which another member is signed', 'altered', [
  extraOf(first.documents.statement, (json) => json.replace('"version":"0.3.0"', '"version":"0.3.1"')),
])
add('proof of a statement with a dataset', 'altered', [
  extraOf(first.documents.statement, (json) =>
    json.replace('{"entry"', `{"dataset":{"id":"${next.dataset.id}","salt":"${'0'.repeat(64)}"},"entry"`),
  ),
])
add('proof of a statement of another ledger', 'altered', [odd.text(misplaced.documents.statement)])
const unsignedStatement = statementOf(7, { ...A, signedBy: 8 })
const forgedTree = new SmallTree(originA, 1, [unsignedStatement])
add('proof of a statement that another key than its node has signed', 'altered', [
  forgedTree.text(unsignedStatement.documents.statement),
])

// Heads.
const head = tree.head()
add('head', 'signed', [head])
add('head without a policy', 'not judged: policy', [head], none)
add('head of a ledger that the policy lacks', 'not judged: policy', [treeC.head()])
add('head of one witness', 'witness quorum not met', [tree.head({ witnesses: [2] })])
add('head with another size', 'altered', [text(head).replace('\n4\n', '\n5\n')])
const headLines = headText({ origin: originA, size: 4, root: tree.root() })
const byPoint = noteOf({ text: headLines, signatures: [signNote(headLines, originA, smallOrderSigner(1))] })
add('head with a signature by a point of small order', 'altered', [byPoint], { policy: nobody })
const stranger = noteOf({ text: headLines, signatures: [signNote(headLines, 'x.example', signer(66))] })
add('head that its ledger has not signed', 'altered', [stranger], { policy: nobody })
add('head with a bad line of a witness', 'altered', [text(head).replace(/(— w3\S+ .{20})./, '$1A')])

// Policies.
const newerKey = verifierKeyText(verifierKey('pq.example/witness', 6, new Uint8Array(1_312).fill(5)))
const withNewer = (least: number): string =>
  lines(log(originA, 1), ...three, `witness PQ ${newerKey}`, `group G ${least} W1 W2 W3 PQ`, 'quorum G')
add('policy with a witness whose key is of a newer type', 'included', [blockProof], { policy: withNewer(2) })
add('policy whose quorum needs the witness with the newer key', 'witness quorum not met', [blockProof], {
  policy: withNewer(3),
})
const refused: Readonly<Record<string, string>> = {
  'a witness under two names': lines(log(originA, 1), three[0]!, witnessLine(1).replace('W1', 'W9'), 'quorum W1'),
  'a member twice': lines(log(originA, 1), ...three, 'group G 2 W1 W1', 'quorum G'),
  'a threshold with a sign': lines(log(originA, 1), ...three, 'group G +1 W1 W2', 'quorum G'),
  'a threshold with a zero in front': lines(log(originA, 1), ...three, 'group G 01 W1 W2', 'quorum G'),
  'a threshold above its members': lines(log(originA, 1), ...three, 'group G 3 W1 W2', 'quorum G'),
  'no quorum': lines(log(originA, 1), ...three),
  'two quorums': lines(log(originA, 1), 'quorum none', 'quorum none'),
  'a space that is none of ASCII': lines(log(originA, 1).replace(' ', '\u00a0'), 'quorum none'),
  'a vertical tab': lines(log(originA, 1).replace(' ', '\v'), 'quorum none'),
  'a key of a witness as that of a log': lines(`log ${keyText(originA, 1)}`, 'quorum none'),
  'a key id that does not follow': lines(log(originA, 1).replace(/\+[0-9a-f]{8}\+/, '+00000000+'), 'quorum none'),
  'a word that is none': lines(log(originA, 1), 'logs x', 'quorum none'),
  'a quorum that no line defines': lines(log(originA, 1), 'quorum W1'),
}
for (const [what, policy] of Object.entries(refused)) {
  add(`policy with ${what}`, 'policy refused', [blockProof], { policy })
}
add('policy with comments, tabs and blank lines', 'included', [blockProof], {
  policy: lines('# whom to trust', '', log(originA, 1).replace(' ', '\t '), ...three, 'group G 2 W1 W2 W3', 'quorum G'),
})

// Refusals, statements and receipts by themselves.
const refusal = signedBy(7, domains.refusal, {
  dataset: { id: next.dataset.id, alias: 'me/lab' },
  bodyHash: next.batchRecord.get('bodyHash'),
  kind: 'SchemaMismatch',
  errors: [],
  time: '2026-05-28T20:20:00.000Z',
})
add('refusal', 'signed', [refusal], none)
add('refusal in its problem', 'signed', [object({ status: 422, refusal })], none)
add('refusal by another than the one that is named', 'altered', [refusal], { ...none, signer: didOf(8) })
add('refusal that is changed', 'altered', [jsonText(refusal).replace('SchemaMismatch', 'SchemaConflict')], none)
add('statement by itself', 'signed', [canonicalBytes(first.documents.statement.statement)], none)
add('statement that is not canonical', 'altered', [` ${jsonText(first.documents.statement.statement)}`], none)
const plain = receiptOf(next, { by: null })
add('receipt without a promise', 'signed', [plain], none)
add('receipt without a promise, by the one that is named', 'signed', [plain], { ...none, ...byReader })
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
const receipt = receiptOf(next)
add('receipt without a policy', 'not judged: policy', [receipt], none)
add('receipt about a ledger that the policy lacks', 'not judged: policy', [receipt, batchProof], {
  ...byReader,
  boundBy: undefined as never, // the policy counts first
  policy: ofOthers,
})
add('receipt whose signer nobody names', 'not judged: signer', [receipt])
add('receipt whose signer nobody names, with the proof of its batch', 'not judged: signer', [receipt, batchProof])
add('receipt whose signer a statement names, without an entry', 'not judged: ledger', [receipt, firstProof], byFirst)
add('receipt whose signer the reader names, without an entry', 'not judged: ledger', [receipt], byReader)
add('receipt of a stranger', 'not judged: signer', [receiptOf(next, { key: 66 }), batchProof, firstProof])
add('receipt of a stranger that is due in 2099', 'not judged: signer', [
  receiptOf(next, { key: 66, by: '2099-01-01T00:00:00.000Z' }),
  firstProof,
])
add(
  'receipt of a stranger whom a statement of another ledger names',
  'not judged: signer',
  [receiptOf(next, { key: 66 }), batchProof, firstProof, treeC.text(foreign.documents.statement)],
  { policy: lines(log(originA, 1), log(originC, 3), 'quorum none') },
)
add('receipt with a statement that is no entry', 'not judged: signer', [
  receipt,
  batchProof,
  canonicalBytes(first.documents.statement.statement),
])
add('receipt with an altered proof of a statement', 'not judged: signer', [
  receipt,
  batchProof,
  text(firstProof).replace('\nindex 0\n', '\nindex 1\n'),
])
add('receipt by another than the one that is named', 'altered', [receipt, batchProof], { signer: didOf(8) })
add('receipt that is changed', 'altered', [jsonText(receipt).replace('me/lab', 'me/lob'), batchProof, firstProof])
const fewWitnesses = tree.text(first.documents.statement, { witnesses: [] })
add(
  'receipt whose signer is named below a head that the ledger alone signed',
  'included',
  [receipt, blockProof, fewWitnesses],
  { ...byFirst, ...blockShown },
)

// Keys that are retired.
const proofOf = (one: typeof first): Uint8Array => keys.text(one.documents.statement)
const late = receiptOf(next, { time: '2026-05-28T20:26:00.000Z', by: '2026-05-28T20:27:30.000Z' })
const atOnce = receiptOf(next, { time: atLeak, by: '2026-05-28T20:26:30.000Z' })
const statedAt = (index: number) => ({ boundBy: { ledger: originA, index, size: 10 } }) as const
const rotatedFact = { retired: { at: atLeak, why: 'rotated' } }
const leakedFact = { retired: { at: atLeak, why: 'leaked' } }
add('receipt from before its key was changed', 'included', [receipt, batchProof, proofOf(first), proofOf(rotated)], {
  ...statedAt(4),
  ...rotatedFact,
  ...allShown,
})
add('receipt from the moment when its key was changed', 'included', [atOnce, batchProof, proofOf(rotated)], {
  ...statedAt(4),
  ...rotatedFact,
})
add(
  'receipt from after its key was changed',
  'not judged: signer',
  [late, batchProof, proofOf(first), proofOf(rotated)],
  {
    ...statedAt(4),
    ...rotatedFact,
  },
)
add(
  'receipt from after its key was changed, where the reader names it',
  'not judged: signer',
  [late, batchProof, proofOf(rotated)],
  { ...byReader, ...rotatedFact },
)
add(
  'receipt from after its key was changed, of which nobody tells',
  'included',
  [late, batchProof, proofOf(first)],
  statedAt(0),
)
add('receipt by the key that took the place', 'included', [receiptOf(next, { key: 8 }), batchProof, proofOf(rotated)], {
  ...statedAt(4),
})
add('receipt whose key leaked later', 'included', [receipt, batchProof, proofOf(leaked)], {
  ...statedAt(5),
  ...leakedFact,
})
add('receipt from after its key leaked', 'not judged: signer', [late, batchProof, proofOf(first), proofOf(leaked)], {
  ...statedAt(5),
  ...leakedFact,
})
add(
  'receipt whose key leaked, though it is said to be rotated later and earlier',
  'not judged: signer',
  [late, batchProof, proofOf(rotated), proofOf(leaked), proofOf(rotatedAgain)],
  { ...statedAt(5), ...leakedFact },
)
add(
  'receipt whose key was rotated earlier by one statement and later by the newest',
  'included',
  [receipt, batchProof, proofOf(rotatedBefore), proofOf(rotatedAgain)],
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

// What became of it.
const withFirst = (one: JsonObject, ...files: readonly Text[]): Text[] => [one, ...files, firstProof]
add('receipt with the proof of its batch', 'included', withFirst(receipt, batchProof), { ...byFirst, ...allShown })
add('receipt with the proof of its batch as JSON', 'included', withFirst(receipt, tree.json(next.documents.batch)), {
  ...byFirst,
  ...allShown,
})
add('receipt with the proof of its block', 'included', withFirst(receipt, blockProof), { ...byFirst, ...blockShown })
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
add('receipt by the one that the reader names, with the proof of its batch', 'included', [receipt, batchProof], {
  ...byReader,
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
  withFirst(receipt, tree.text(next.documents.batch, { witnesses: [2] }), blockProof),
  blockShown,
)
add('receipt under a head where nobody is asked for', 'included', withFirst(receipt, batchProof), {
  policy: nobody,
  ...allShown,
})
const lie = (more: object): JsonObject => receiptOf(next, { more })
add(
  'receipt with a false hash of its body',
  'promise broken',
  withFirst(lie({ bodyHash: other.batchRecord.get('bodyHash') }), batchProof),
  byFirst,
)
add(
  'receipt with false offsets',
  'promise broken',
  withFirst(lie({ offsets: { start: 0, end: 9 } }), batchProof),
  byFirst,
)
add(
  'receipt without the offsets of its batch',
  'promise broken',
  withFirst(lie({ offsets: undefined }), batchProof),
  byFirst,
)
add(
  'receipt with false offsets, and the proof of its block alone',
  'included',
  withFirst(lie({ offsets: { start: 0, end: 9 } }), blockProof),
  blockShown,
)
const lost = (more: object): JsonObject =>
  lie({ batchId: 'late-0-1', bodyHash: String(next.documents.rejected.record.get('bodyHash')), ...more })
add(
  'receipt that calls a rejected batch committed',
  'promise broken',
  withFirst(lost({}), tree.text(next.documents.rejected)),
  byFirst,
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
  withFirst(lie({ block: { hash: instead.block.hash, sequence: 1 } }), batchProof),
  byFirst,
)
add(
  'receipt with a false dataset',
  'not judged: ledger',
  withFirst(lie({ dataset: { id: other.dataset.id, alias: 'me/x' } }), batchProof),
  byFirst,
)
add(
  'receipt with a false sequence',
  'not judged: ledger',
  withFirst(lie({ block: { hash: next.block.hash, sequence: 5 } }), batchProof),
  byFirst,
)
add(
  'receipt with another salt',
  'promise broken',
  withFirst(receiptOf(next, { promise: { blockSalt: '0'.repeat(64) } }), batchProof),
  byFirst,
)
add(
  'receipt with another block in the promised place',
  'promise broken',
  withFirst(receipt, swapped.text(instead.documents.block)),
  byFirst,
)
add(
  'receipt with another block in the promised place, below a head that the ledger alone signed',
  'promise broken',
  withFirst(receipt, swapped.text(instead.documents.block, { witnesses: [] })),
  byFirst,
)
add(
  'receipt with its entry in one head and another block in another',
  'included',
  withFirst(receipt, swapped.text(instead.documents.block), blockProof),
  blockShown,
)
add('receipt with a promise and no block', 'altered', withFirst(lie({ block: undefined }), batchProof))
add('receipt with a promise and not committed', 'altered', withFirst(lie({ status: 'accepted' }), batchProof))
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
  ...byFirst,
  now: '2026-05-31T00:00:00.000Z',
})
add('receipt a minute after it was due', 'promised, not yet due', withFirst(young), { now: '2026-06-01T00:01:00.000Z' })
add('receipt more than a minute after it was due', 'not judged: ledger', withFirst(young), {
  now: '2026-06-01T00:01:00.001Z',
})
add('receipt that is due in 9999', 'promised, not yet due', withFirst(receiptOf(next, { by: '9999-12-31T23:59:59Z' })))
add('receipt that is due later, and is there', 'included', withFirst(young, batchProof), {
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
add('broken promise', 'promise broken', [evidence], byFirst)
add('broken promise in what verify prints', 'promise broken', [object({ file: 'a', evidence })], byFirst)
add('broken promise without a policy', 'not judged: policy', [evidence], none)
add('broken promise without a statement', 'not judged: signer', [
  broken({ receipt, head: swap.head, found, proofs: [] }),
])
add(
  'broken promise without a statement, of the one that the reader names',
  'promise broken',
  [broken({ receipt, head: swap.head, found, proofs: [] })],
  byReader,
)
add(
  'broken promise without a statement, with its proof beside',
  'promise broken',
  [broken({ receipt, head: swap.head, found, proofs: [] }), firstProof],
  byFirst,
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
  byFirst,
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
  { ...byFirst, ...blockShown },
)
add(
  'broken promise without an entry, which takes the ledger',
  'not judged: ledger',
  [broken({ receipt, head: short.head(), proofs: [statedIn] })],
  byFirst,
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
  [oldBlock, short.text(block.documents.batch), renewal(renewed)],
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
    short.text(block.documents.batch),
    short.text(first.documents.statement),
    strange.text(renewedByStranger.documents.statement),
  ],
  { policy: ofBoth },
)

const target = new URL('../test/fixtures/ledger/vectors.json', import.meta.url)

/** What the file has. */
export const vectorsText = `${JSON.stringify(vectors, undefined, 1)}\n`

if (process.argv[1] === new URL(import.meta.url).pathname) await writeFile(target, utf8(vectorsText))
