// Public as `@proofstream/ledger` and `proofstream/ledger`: the parts of a transparency ledger that need no input and output.
// Trees and tiles, signed heads, policies and cosignatures, proof files and their verdict, both sides of a witness.

export { cosign, cosignedAt } from './cosignature.ts'
export {
  blockTag,
  type BlockEntry,
  datasetTag,
  type Entry,
  entryBytes,
  noRoot,
  parseEntry,
  promisedBytes,
  promisedEntry,
  type StatementEntry,
} from './entry.ts'
export { kindOfFile, type LedgerFile } from './file-kind.ts'
export { type Head, headText, parseHead } from './head.ts'
export { type FileFault, type FileVerdict, type Given, judgeFile, type ReceiptKind } from './judge-file.ts'
export {
  type BlockFacts,
  type BoundTimestamp,
  judgeProof,
  type NeedsPolicy,
  type ProofFacts,
  type ProofFile,
  type ProofVerdict,
  readProof,
  type StatementFacts,
} from './judge-proof.ts'
export {
  type Absent,
  answersPromise,
  type Beside,
  besideOf,
  judgePromise,
  keepsPromise,
  type Placed,
  type PromiseVerdict,
  type ReceiptFacts,
  type Stated,
  type Trust,
} from './judge-receipt.ts'
export { type Note, noteOf, type NoteSignature, parseNote, signatureLine, signNote, verifyNote } from './note.ts'
export { type HeadFacts, type OpenedHead, openHead, type Witnessed } from './open-head.ts'
export {
  parsePolicy,
  type Policy,
  type PolicyLog,
  policyText,
  type PolicyWitness,
  type Quorum,
  quorumOf,
} from './policy.ts'
export {
  type BlockDocument,
  documentBytes,
  type HeadTimestamp,
  parseDocument,
  parseProofJson,
  type ProofDocument,
  type ProofJson,
  proofJsonText,
  type RecordDocument,
  type StatementDocument,
} from './proof-document.ts'
export {
  batchRecord,
  type BatchOutcomes,
  type BatchRecord,
  batchRecords,
  batchSalt,
  isBelow,
  recordLeaf,
  type RecordPlace,
  recordsRoot,
  rowSalt,
} from './roots.ts'
export {
  allSecrets,
  blockSalt,
  datasetSaltOf,
  secretOf,
  type SecretNode,
  secretsFromJson,
  secretsToJson,
  secretsUpTo,
  secretsWithout,
  SecretWalk,
} from './secrets.ts'
export { receiptDomain, refusalDomain, signDocument, signerOf } from './signed-document.ts'
export {
  brokenPromiseJson,
  openReceipt,
  openRefusal,
  parseBrokenPromise,
  type BrokenPromise,
  type LedgerPromise,
  type SignedReceipt,
  type SignedRefusal,
} from './signed-receipt.ts'
export { parseStatement, type SignedStatement, type Statement, statementBytes, statementEntry } from './statement.ts'
export {
  consistencyProof,
  consistencyTiles,
  inclusionProof,
  inclusionTiles,
  rootOf,
  rootTiles,
  type TileHashes,
} from './tile-proofs.ts'
export { hashesByLevel, recordPlace, TiledTree, type TileFile } from './tiled-tree.ts'
export {
  entriesOfBundle,
  entryBundle,
  grownTiles,
  hashesOfTile,
  parseTileName,
  type Tile,
  tileIn,
  tileName,
} from './tiles.ts'
export { maxExtraLine, parseTlogProof, type TlogProof, tlogProofText } from './tlog-proof.ts'
export {
  checkConsistency,
  checkInclusion,
  emptyRoot,
  Frontier,
  type Inclusion,
  leafHash,
  nodeHash,
  rootFromInclusion,
  type TreeHead,
  treeRoot,
} from './tree.ts'
export {
  parseVerifierKey,
  type Signer,
  signatureTypes,
  type SignatureType,
  type VerifierKey,
  verifierKey,
  verifierKeyText,
} from './verifier-key.ts'
export {
  type AddCheckpoint,
  addCheckpointBody,
  cosignaturesIn,
  decideAddCheckpoint,
  parseAddCheckpoint,
  sizeIn,
  type WitnessDecision,
  type WitnessState,
} from './witness.ts'
