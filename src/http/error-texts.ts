// What the error catalogue says of each kind: when it is given, and what to do. The pages under /errors and
// docs/errors.md are made from it.

import type { ErrorKind } from '../model/error-table.ts'

export interface ErrorText {
  /** When it is given, and what is true then. */
  readonly meaning: string
  /** What the caller should do. */
  readonly fix: string
}

const forged = 'The proof is not what this key signed, or it was changed since.'

export const errorTexts: Readonly<Record<ErrorKind, ErrorText>> = {
  InvalidName: {
    meaning: 'An account or dataset name in the path breaks the rules for names.',
    fix: 'Use ASCII letters, digits and single inner hyphens, in labels joined by dots, at most 100 characters.',
  },
  ReservedName: {
    meaning: 'The account has the name of a route of the node.',
    fix: 'Choose another account name.',
  },
  InvalidParameter: {
    meaning: 'A query parameter or a header is unknown, repeated, malformed or out of range.',
    fix: 'Correct the one that the message names. GET /openapi.json lists those that the route takes.',
  },
  BadAuthorization: {
    meaning:
      'The Authorization header is not of the form Bearer, space, token (or Token, or Basic with the token as password).',
    fix: 'Send -H "Authorization: Bearer $(cat proofstream-data/token)", or no such header.',
  },
  MalformedJson: {
    meaning: 'The body is not JSON, is not UTF-8, or an object in it names a member twice.',
    fix: 'Correct the text at the position.',
  },
  MalformedBody: {
    meaning: 'The body is not what its headers say, in a way that is not the fault of one record. Nothing was stored.',
    fix: 'Check Content-Type, Content-Encoding and Content-Length against the body that was sent.',
  },
  SqlSyntax: {
    meaning: 'The statement does not parse.',
    fix: 'Correct the text at the position. The dialect is that of DuckDB.',
  },
  SqlUnknownName: {
    meaning: 'The statement names a column, table, type or function that does not exist.',
    fix: 'Take one of the candidates. Names with capitals or spaces need double quotes.',
  },
  SqlValue: {
    meaning: 'The statement met a value or a type that it cannot handle.',
    fix: 'Cast or filter the value; try_cast gives null instead of an error.',
  },
  QueryNotAllowed: {
    meaning:
      'The statement is no single SELECT, or uses something that queries may not use, such as files or settings.',
    fix: 'Leave out what the message names.',
  },
  DuplicateColumn: {
    meaning: 'Two output columns have one name, which a row written as an object cannot hold.',
    fix: 'Name the columns with AS, drop them with EXCLUDE, or ask for JsonAoa.',
  },
  UnsupportedDialect: {
    meaning:
      'The query asks for a dialect that this node does not run. A proof never names a dialect that did not run.',
    fix: 'Send SqlDuckDb or no queryDialect, and write the statement for DuckDB.',
  },
  EngineUnavailable: {
    meaning: 'The query asks for another version of the engine than the one that runs here.',
    fix: 'Send SqlDuckDb, or ask a node with that version. GET /info names the version of a node.',
  },
  'InvalidRequest::InputHash': {
    meaning: `The input does not hash to commitment.inputHash. ${forged}`,
    fix: 'Send the answer as it was received. If it still fails, do not trust it.',
  },
  'InvalidRequest::SubQueriesHash': {
    meaning: `The sub-queries do not hash to commitment.subQueriesHash. ${forged}`,
    fix: 'Send the answer as it was received. If it still fails, do not trust it.',
  },
  'InvalidRequest::BadSignature': {
    meaning: `The signature does not fit the commitment and the key. ${forged}`,
    fix: 'Send the answer as it was received. If it still fails, do not trust it.',
  },
  'InvalidRequest::OutputHash': {
    meaning: `The output does not hash to commitment.outputHash. ${forged}`,
    fix: 'Send the answer as it was received. If it still fails, do not trust its rows.',
  },
  'InvalidRequest::UnpinnedDataset': {
    meaning: 'The query names a dataset that input.datasets does not pin to a block, so it cannot be run again.',
    fix: 'Ask the node that signed for a proof that pins every dataset.',
  },
  'VerificationFailed::OutputMismatch': {
    meaning: 'The signature is good, but the query gives another output on the blocks that it names: the signer erred.',
    fix: 'Do not trust the answer. Keep it: the signature shows who gave it.',
  },
  'VerificationFailed::DatasetNotFound': {
    meaning: 'A dataset of the proof is not here, or the caller may not read it.',
    fix: 'Verify at a node that has the dataset, or with a token that may read it.',
  },
  'VerificationFailed::DatasetBlockNotFound': {
    meaning: 'The dataset is here, but its chain has no block with the hash that the proof names.',
    fix: 'Verify at the node that signed. If that node says the same, its chain was rewritten or the proof is false.',
  },
  'VerificationFailed::NotReproducible': {
    meaning: 'The proof is of a statement whose answer is another one each time. This node signs no such answer.',
    fix: 'Do not take it as proof; ask for one of a statement that can be reproduced.',
  },
  'VerificationInconclusive::EngineUnavailable': {
    meaning: 'The output differs, and the proof names another engine version: this node cannot tell who is right.',
    fix: 'Verify at a node with that engine version. Hashes and signature are good.',
  },
  Unauthenticated: {
    meaning: 'A token is needed and there is none, or the one sent is unknown, expired or revoked.',
    fix: 'Send a valid token. The first one of a node lies in the file token of its data directory.',
  },
  Forbidden: {
    meaning: 'The token is valid but lacks the scope, or its dataset patterns do not cover this dataset.',
    fix: 'Use a token with the right, or ask an admin for one (POST /tokens).',
  },
  DatasetNotFound: {
    meaning: 'There is no such dataset, or the caller may not know of it.',
    fix: 'Check the name. Ingest with create=true, or PUT, makes a dataset.',
  },
  BlockNotFound: {
    meaning: 'The chain of the dataset has no block with this hash.',
    fix: 'Take a hash from GET …/blocks or refs/head of this dataset.',
  },
  ObjectNotFound: {
    meaning: 'The dataset has no slice or checkpoint with this hash.',
    fix: 'Take the hash from the block that names it.',
  },
  ReceiptNotFound: {
    meaning: 'No receipt has this id, or the caller may not see it.',
    fix: 'Use the receiptId of an ingest answer of this node, with the token that sent the batch.',
  },
  TokenNotFound: {
    meaning: 'No token has this id; it may have been revoked already.',
    fix: 'GET /tokens lists the ids.',
  },
  RouteNotFound: {
    meaning: 'The path is none of this node.',
    fix: 'GET / lists the routes, GET /openapi.json describes them.',
  },
  MethodNotAllowed: {
    meaning: 'The path exists, but takes other methods.',
    fix: 'Use one of the methods in the header Allow.',
  },
  RequestTimeout: {
    meaning: 'The request came too slowly. Nothing of it was stored.',
    fix: 'Send it again, in smaller batches on a slow line. GET /limits lists requestHeaderMs, bodyRate and bodyMs.',
  },
  DatasetExists: {
    meaning: 'The name is taken by a dataset that differs from the one asked for.',
    fix: 'Choose another name, or send records to the dataset that is there.',
  },
  IdempotencyKeyReused: {
    meaning: 'The key was used for another body. This body was not stored.',
    fix: 'Take a new key for each batch; repeat a batch with its own key and its very bytes.',
  },
  SchemaConflict: {
    meaning: 'When the batch had its turn, an earlier one had changed the columns. Nothing of it was stored.',
    fix: 'Look at the schema, then send records that fit it.',
  },
  OtherLog: {
    meaning: 'The dataset gets its rows from another log than the one of this node. Nothing was stored.',
    fix: 'Send the records to a node of that log. Where this log is to take over, the operator says so with `proofstream log adopt`.',
  },
  HeadMoved: {
    meaning: 'The dataset has changed since the block that If-Match names. Nothing was stored.',
    fix: 'Read what came since, decide again, then send with the current head.',
  },
  BodyTooLarge: {
    meaning:
      'The body, its inflated form, the number of its values or the statement is larger than the limit that the answer names.',
    fix: 'Send smaller batches, or raise the limit with the option that GET /limits names.',
  },
  ResultTooLarge: {
    meaning: 'The answer, or the memory it needs, is larger than a query may use.',
    fix: 'Aggregate, select fewer columns, or page with limit and skip.',
  },
  UnsupportedMediaType: {
    meaning: 'The route does not take a body of this Content-Type.',
    fix: "Say what the body is with -H 'Content-Type: …'; curl -d says form data unless told otherwise.",
  },
  UnsupportedEncoding: {
    meaning: 'The Content-Encoding is none that the node can undo.',
    fix: 'Send gzip, deflate, br or zstd, or an uncompressed body.',
  },
  RangeNotSatisfiable: {
    meaning: 'The header Range names bytes that the object does not have. Content-Range says how many it has.',
    fix: 'Ask for bytes below that number, or leave Range out.',
  },
  MisdirectedRequest: {
    meaning: 'The Host header names another machine. A node that listens on loopback answers to loopback names only.',
    fix: 'Use localhost, or start the node with --allowed-hosts and the name.',
  },
  InvalidRequest: {
    meaning: 'The body is JSON, but a member is missing, unknown, of another type or out of range.',
    fix: 'Correct the member that the message names. GET /openapi.json describes the body.',
  },
  RecordsDoNotFit: {
    meaning: 'At least one record does not fit the columns. Nothing of the batch was stored.',
    fix: 'Correct the records that errors names. unknownFields=ignore or add deals with new fields.',
  },
  InvalidColumnName: {
    meaning: 'A column name is empty, too long, has control characters, or equals another one up to case.',
    fix: 'Rename the field in the records or in the schema.',
  },
  UnsupportedCrs: {
    meaning: 'The coordinates are in a reference system other than WGS 84.',
    fix: 'Reproject to EPSG:4326.',
  },
  NothingToInfer: {
    meaning: 'The dataset would be created from this body, but it has no records to take the columns from.',
    fix: 'Send records, or declare the schema with PUT.',
  },
  UnsupportedProofType: {
    meaning: 'The proof is of a type other than Ed25519Signature2020.',
    fix: 'Verify it with software that knows the type.',
  },
  NotReproducible: {
    meaning:
      'A proof was asked for a statement that gives another answer each time, or calls a function (sin, exp, pow, …) whose last digits depend on the machine.',
    fix: 'Write a fixed value instead, compute the function from the proven answer, or ask without a proof.',
  },
  QuotaExceeded: {
    meaning:
      'The caller has as many bodies under way as its share of the node allows, or its token has sent as many batches or bytes as it may for now. Nothing was stored.',
    fix: 'Wait as long as Retry-After says, then repeat. GET /limits lists the quotas: callerIngestShare, callerRequestRate, callerByteRate.',
  },
  Internal: {
    meaning:
      'The node failed, or what is stored of the dataset is damaged: then error.reason is ChainBroken, and the message names the object. A query can be repeated; whether a batch was stored is not said.',
    fix: 'Repeat a batch with the same Idempotency-Key. If it happens again, report it with the request id in instance. For a damaged dataset an operator runs proofstream fsck.',
  },
  OutcomeUnknown: {
    meaning: 'The answer of the log was lost: the batch or the dataset may be stored or not.',
    fix: 'Repeat the same request with the same Idempotency-Key; it is stored once.',
  },
  Saturated: {
    meaning: 'The node has as much under way as it can hold. Nothing was stored.',
    fix: 'Wait as long as Retry-After says, then repeat.',
  },
  Draining: {
    meaning: 'The node is shutting down. Nothing was stored.',
    fix: 'Wait as long as Retry-After says, then repeat.',
  },
  LogUnavailable: {
    meaning: 'The log, or this dataset in it, takes no rows; the message says why. Nothing was stored. Reads go on.',
    fix: 'Repeat later. If the message names a halt such as LogReplaced or ChainBroken, an operator must act.',
  },
  QueryTimeout: {
    meaning: 'The query took longer than a query may, or the client went away.',
    fix: 'Ask for less: filter, aggregate. --limit-query-ms is the time.',
  },
  StorageFull: {
    meaning: 'The volume of the log or the store is nearly full. Nothing was stored. Reads go on.',
    fix: 'Make room on the volume, then repeat.',
  },
}
