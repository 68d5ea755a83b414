// Vectors of proofs, heads and policies.

import { headText } from '../../src/libraries/ledger/head.ts'
import { noteOf, signNote } from '../../src/libraries/ledger/note.ts'
import type { ProofDocument } from '../../src/libraries/ledger/proof-document.ts'
import { verifierKey, verifierKeyText } from '../../src/libraries/ledger/verifier-key.ts'
import { keyText, signer, smallOrderSigner, witnessName } from '../../test/libraries/ledger/keys.ts'
import { didOf, signedDocument, SmallTree, statementOf } from '../../test/libraries/ledger/small-node.ts'
import {
  A,
  log,
  witnessLine,
  lines,
  three,
  nobody,
  ofOthers,
  first,
  tree,
  misplaced,
  treeC,
  odd,
  text,
  add,
  none,
  proofs,
  originA,
  block,
  other,
  next,
} from './model.ts'

// Proofs.
for (const [kind, document] of Object.entries(next.documents)) {
  add(`proof of a ${kind}`, 'included', [tree.text(document)])
  add(`proof of a ${kind} as JSON`, 'included', [tree.json(document)])
}
add('proof of a statement', 'included', [proofs.first])
add('proof of a statement as JSON', 'included', [tree.json(first.documents.statement)])
add('proof without a policy', 'not judged: policy', [proofs.block], none)
add('proof of a statement without a policy', 'not judged: policy', [proofs.first], none)
add('proof of a ledger that the policy lacks', 'not judged: policy', [proofs.block], { policy: ofOthers })
add('proof under a head of one witness', 'witness quorum not met', [tree.text(next.documents.row, { witnesses: [2] })])
add(
  'proof under a head of one witness, where nobody is asked for',
  'included',
  [tree.text(next.documents.row, { witnesses: [2] })],
  { policy: nobody },
)
add('proof with another index', 'altered', [text(proofs.block).replace('\nindex 3\n', '\nindex 2\n')])
add(
  'proof with another index, without a policy',
  'altered',
  [text(proofs.block).replace('\nindex 3\n', '\nindex 2\n')],
  none,
)
add(
  'proof with another index, of a ledger that the policy lacks',
  'altered',
  [text(proofs.block).replace('\nindex 3\n', '\nindex 2\n')],
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
add('proof without an extra line', 'impossible', [text(proofs.block).replace(/\nextra .*/, '')])
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

// Of version 2.
const signedRow = signedDocument(next.documents.row)
const signedBatch = signedDocument(next.documents.batch)
for (const [name, document] of [
  ['row', signedRow],
  ['batch', signedBatch],
] as const) {
  add(`proof of a ${name} of which the node says more`, 'included', [tree.text(document)])
  add(`proof of a ${name} of which the node says more, as JSON`, 'included', [tree.json(document)])
}
const byNode = { signer: didOf(7) }
add('proof of a row of which the named node says more', 'included', [tree.text(signedRow)], byNode)
add('proof of a row of which another than the named node says more', 'altered', [tree.text(signedRow)], {
  signer: didOf(8),
})
add('proof of a row of which no node says more, with one named', 'included', [tree.text(next.documents.row)], byNode)
add('proof of a row of which the node says more, without a policy', 'not judged: policy', [tree.text(signedRow)], none)
add('proof of a row of which the node says more of another entry', 'altered', [
  tree.text({ ...signedRow, signed: signedDocument(block.documents.row).signed ?? new Map() }),
])
add('proof of a row whose block time is changed', 'altered', [
  extraOf(signedRow, (json) => json.replace('2026-05-28T20:19:59.123Z', '2026-05-28T20:19:58.123Z')),
])
add('proof of a row whose block time is none', 'altered', [
  tree.text(signedDocument(next.documents.row, 7, { blockTime: '2026-05-28' })),
])
add('proof of a row of which the node says one more thing', 'altered', [
  tree.text(signedDocument(next.documents.row, 7, { block: 'f1620' })),
])
add('proof of a row of version 1 of which the node says more', 'altered', [
  extraOf(signedRow, (json) => json.replace('"v":2', '"v":1')),
])
add('proof of a row of version 2 of which the node says no more', 'altered', [
  extraOf(next.documents.row, (json) => json.replace('"v":1', '"v":2')),
])

// Heads.
const head = tree.head()
add('head', 'signed', [head])
add('head without a policy', 'not judged: policy', [head], none)
add('head of a ledger that the policy lacks', 'not judged: policy', [treeC.head()])
add('head of one witness', 'witness quorum not met', [tree.head({ witnesses: [2] })])
const otherLog = { policy: lines(log(originA, 3), 'quorum none') }
add('head of a ledger for which the policy has another key', 'altered', [head], otherLog)
add('proof of a ledger for which the policy has another key', 'altered', [proofs.batch], otherLog)
const otherWitness = `witness W1 ${keyText(witnessName(1), 12)}`
add('head of a witness for which the policy has another key', 'witness quorum not met', [head], {
  policy: lines(log(originA, 1), otherWitness, 'quorum W1'),
})
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
add('policy with a witness whose key is of a newer type', 'included', [proofs.block], { policy: withNewer(2) })
add('policy whose quorum needs the witness with the newer key', 'witness quorum not met', [proofs.block], {
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
  add(`policy with ${what}`, 'policy refused', [proofs.block], { policy })
}
add('policy with comments, tabs and blank lines', 'included', [proofs.block], {
  policy: lines('# whom to trust', '', log(originA, 1).replace(' ', '\t '), ...three, 'group G 2 W1 W2 W3', 'quorum G'),
})
