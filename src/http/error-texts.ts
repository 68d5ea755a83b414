// What the error catalogue says of each kind: when it is given, what to do, and what one body says. The pages under
// /errors, docs/errors.md and the examples of the OpenAPI document are made from it.

import type { ErrorKind } from '../model/error-table.ts'
import type { ErrorDetails } from '../model/errors.ts'

export interface ErrorText {
  /** When it is given, and what is true then. */
  readonly meaning: string
  /** What the caller should do. */
  readonly fix: string
  /** `message` of one body. */
  readonly message: string
  /** Further members of that body. */
  readonly details?: Omit<ErrorDetails, 'cause'>
}

const at = (offset: number): ErrorDetails => ({ position: { offset, line: 1, column: offset + 1 } })
const hash = (digit: string): string => `f1620${digit.repeat(64)}`
const did = `did:odf:fed01${'c'.repeat(64)}`
const sameKey = { hint: 'Repeat the request with the same Idempotency-Key.' }
const forged = 'The proof is not what this key signed, or it was changed since.'

export const errorTexts: Readonly<Record<ErrorKind, ErrorText>> = {
  InvalidName: {
    meaning: 'An account or dataset name in the path breaks the rules for names.',
    fix: 'Use ASCII letters, digits and single inner hyphens, in labels joined by dots, at most 100 characters.',
    message: "'my_data' is not a valid name.",
  },
  ReservedName: {
    meaning: 'The account has the name of a route of the node.',
    fix: 'Choose another account name.',
    message: "The account name 'query' is reserved.",
  },
  InvalidParameter: {
    meaning: 'A query parameter or a header is unknown, repeated, malformed or out of range.',
    fix: 'Correct the one that the message names. GET /openapi.json lists those that the route takes.',
    message: "The parameter 'limmit' is not known here.",
    details: { hint: 'GET /openapi.json describes every parameter.' },
  },
  BadAuthorization: {
    meaning: 'The Authorization header is not of the form Bearer, space, token.',
    fix: 'Send -H "Authorization: Bearer $(cat proofstream-data/token)", or no such header.',
    message: 'The Authorization header is not of the form Bearer <token>.',
  },
  MalformedJson: {
    meaning: 'The body is not JSON, is not UTF-8, or an object in it names a member twice.',
    fix: 'Correct the text at the position.',
    message: 'The body is not well-formed JSON: it names a member twice.',
    details: at(14),
  },
  MalformedBody: {
    meaning: 'The body is not what its headers say, in a way that is not the fault of one record. Nothing was stored.',
    fix: 'Check Content-Type, Content-Encoding and Content-Length against the body that was sent.',
    message: 'The body is not valid gzip.',
  },
  SqlSyntax: {
    meaning: 'The statement does not parse.',
    fix: 'Correct the text at the position. The dialect is that of DuckDB.',
    message: 'syntax error at or near "form".',
    details: at(9),
  },
  SqlUnknownName: {
    meaning: 'The statement names a column, table, type or function that does not exist.',
    fix: 'Take one of the candidates. Names with capitals or spaces need double quotes.',
    message: 'Referenced column "citty" not found in FROM clause.',
    details: { ...at(7), candidates: ['city'] },
  },
  SqlValue: {
    meaning: 'The statement met a value or a type that it cannot handle.',
    fix: 'Cast or filter the value; try_cast gives null instead of an error.',
    message: "Could not convert string 'abc' to INT32.",
  },
  QueryNotAllowed: {
    meaning:
      'The statement is no single SELECT, or uses something that queries may not use, such as files or settings.',
    fix: 'Leave out what the message names.',
    message: "Queries may not use the function 'read_csv'.",
    details: at(14),
  },
  DuplicateColumn: {
    meaning: 'Two output columns have one name, which a row written as an object cannot hold.',
    fix: 'Name the columns with AS, drop them with EXCLUDE, or ask for JsonAoa.',
    message: "Two output columns are named 'id'.",
    details: { candidates: ['id'] },
  },
  UnsupportedDialect: {
    meaning:
      'The query asks for a dialect that this node does not run. A proof never names a dialect that did not run.',
    fix: 'Send SqlDuckDb or no queryDialect, and write the statement for DuckDB.',
    message: "The query dialect 'SqlSpark' is not one that runs here.",
    details: { candidates: ['SqlDuckDb'] },
  },
  EngineUnavailable: {
    meaning: 'The query asks for another version of the engine than the one that runs here.',
    fix: 'Send SqlDuckDb, or ask a node with that version. GET /info names the version of a node.',
    message: 'The engine of SqlDuckDb/1.0.0-1 is not available here.',
  },
  'InvalidRequest::InputHash': {
    meaning: `The input does not hash to commitment.inputHash. ${forged}`,
    fix: 'Send the answer as it was received. If it still fails, do not trust it.',
    message: "commitment.inputHash doesn't match the hash of the input.",
  },
  'InvalidRequest::SubQueriesHash': {
    meaning: `The sub-queries do not hash to commitment.subQueriesHash. ${forged}`,
    fix: 'Send the answer as it was received. If it still fails, do not trust it.',
    message: "commitment.subQueriesHash doesn't match the hash of the sub-queries.",
  },
  'InvalidRequest::BadSignature': {
    meaning: `The signature does not fit the commitment and the key. ${forged}`,
    fix: 'Send the answer as it was received. If it still fails, do not trust it.',
    message: 'The signature is not one of the commitment by this key.',
  },
  'InvalidRequest::OutputHash': {
    meaning: `The output does not hash to commitment.outputHash. ${forged}`,
    fix: 'Send the answer as it was received. If it still fails, do not trust its rows.',
    message: "The output is not the one that was signed: commitment.outputHash doesn't match its hash.",
  },
  'InvalidRequest::UnpinnedDataset': {
    meaning: 'The query names a dataset that input.datasets does not pin to a block, so it cannot be run again.',
    fix: 'Ask the node that signed for a proof that pins every dataset.',
    message: "The query names 'acme/goods', which input.datasets does not pin.",
    details: at(14),
  },
  'VerificationFailed::OutputMismatch': {
    meaning: 'The signature is good, but the query gives another output on the blocks that it names: the signer erred.',
    fix: 'Do not trust the answer. Keep it: the signature shows who gave it.',
    message: 'Running the query again gave another output than the one that was signed.',
    details: { extra: { expected_hash: hash('a'), actual_hash: hash('b') } },
  },
  'VerificationFailed::DatasetNotFound': {
    meaning: 'A dataset of the proof is not here, or the caller may not read it.',
    fix: 'Verify at a node that has the dataset, or with a token that may read it.',
    message: `The dataset ${did} is not known here.`,
    details: { extra: { dataset_id: did } },
  },
  'VerificationFailed::DatasetBlockNotFound': {
    meaning: 'The dataset is here, but its chain has no block with the hash that the proof names.',
    fix: 'Verify at the node that signed. If that node says the same, its chain was rewritten or the proof is false.',
    message: `The block ${hash('d')} is not in the chain of ${did} here.`,
    details: { extra: { dataset_id: did, block_hash: hash('d') } },
  },
  'VerificationFailed::NotReproducible': {
    meaning: 'The proof is of a statement whose answer is another one each time. This node signs no such answer.',
    fix: 'Do not take it as proof; ask for one of a statement that can be reproduced.',
    message: "The function 'random' gives another answer each time, so there can be no proof.",
  },
  'VerificationInconclusive::EngineUnavailable': {
    meaning: 'The output differs, and the proof names another engine version: this node cannot tell who is right.',
    fix: 'Verify at a node with that engine version. Hashes and signature are good.',
    message: 'The proof names SqlDuckDb/1.0.0-1; this node runs SqlDuckDb/1.5.6-1 and got another output.',
    details: { extra: { proof_engine: 'SqlDuckDb/1.0.0-1', node_engine: 'SqlDuckDb/1.5.6-1' } },
  },
  Unauthenticated: {
    meaning: 'A token is needed and there is none, or the one sent is unknown, expired or revoked.',
    fix: 'Send a valid token. The first one of a node lies in the file token of its data directory.',
    message: 'This needs a token.',
  },
  Forbidden: {
    meaning: 'The token is valid but lacks the scope, or its dataset patterns do not cover this dataset.',
    fix: 'Use a token with the right, or ask an admin for one (POST /tokens).',
    message: 'This token may not send records to acme/goods.',
  },
  DatasetNotFound: {
    meaning: 'There is no such dataset, or the caller may not know of it.',
    fix: 'Check the name. Ingest with create=true, or PUT, makes a dataset.',
    message: 'There is no dataset acme/goods.',
    details: { hint: 'POST …/ingest?create=true or PUT makes it.' },
  },
  BlockNotFound: {
    meaning: 'The chain of the dataset has no block with this hash.',
    fix: 'Take a hash from GET …/blocks or refs/head of this dataset.',
    message: `'acme/goods' has no block ${hash('d')}.`,
  },
  ObjectNotFound: {
    meaning: 'The dataset has no slice or checkpoint with this hash.',
    fix: 'Take the hash from the block that names it.',
    message: `'acme/goods' has no object ${hash('e')}.`,
  },
  ReceiptNotFound: {
    meaning: 'No receipt has this id, or the caller may not see it.',
    fix: 'Use the receiptId of an ingest answer of this node, with the token that sent the batch.',
    message: 'There is no such receipt.',
  },
  TokenNotFound: {
    meaning: 'No token has this id; it may have been revoked already.',
    fix: 'GET /tokens lists the ids.',
    message: 'There is no token with this id.',
  },
  RouteNotFound: {
    meaning: 'The path is none of this node.',
    fix: 'GET / lists the routes, GET /openapi.json describes them.',
    message: 'There is no route /qurey.',
  },
  MethodNotAllowed: {
    meaning: 'The path exists, but takes other methods.',
    fix: 'Use one of the methods in the header Allow.',
    message: '/query does not take DELETE.',
    details: { candidates: ['GET', 'HEAD', 'POST'] },
  },
  RequestTimeout: {
    meaning: 'The request came too slowly. Nothing of it was stored.',
    fix: 'Send it again, in smaller batches on a slow line. GET /limits lists requestHeaderMs, bodyRate and bodyMs.',
    message: 'The request did not arrive in time.',
  },
  DatasetExists: {
    meaning: 'The name is taken by a dataset that differs from the one asked for.',
    fix: 'Choose another name, or send records to the dataset that is there.',
    message: "There is a dataset 'acme/goods' already, and it is not the one asked for.",
  },
  IdempotencyKeyReused: {
    meaning: 'The key was used for another body. This body was not stored.',
    fix: 'Take a new key for each batch; repeat a batch with its own key and its very bytes.',
    message: "The Idempotency-Key 'reading-1' was used for another body.",
  },
  SchemaConflict: {
    meaning: 'When the batch had its turn, an earlier one had changed the columns. Nothing of it was stored.',
    fix: 'Look at the schema, then send records that fit it.',
    message: 'The rows do not fit the dataset: the column size has another type.',
  },
  OtherLog: {
    meaning: 'The dataset gets its rows from another log than the one of this node. Nothing was stored.',
    fix: 'Send the records to a node of that log.',
    message: "The rows of 'acme/goods' go to another log than this node's.",
  },
  HeadMoved: {
    meaning: 'The dataset has changed since the block that If-Match names. Nothing was stored.',
    fix: 'Read what came since, decide again, then send with the current head.',
    message: "The head of 'acme/goods' is not the one that If-Match names.",
    details: { extra: { head: hash('f') } },
  },
  BodyTooLarge: {
    meaning: 'The body, its inflated form or the statement is larger than the limit that the answer names.',
    fix: 'Send smaller batches, or raise the limit with the option that GET /limits names.',
    message: 'The body is larger than 268435456 bytes.',
    details: { limit: { name: 'bodyBytes', value: 268435456, unit: 'bytes' } },
  },
  ResultTooLarge: {
    meaning: 'The answer, or the memory it needs, is larger than a query may use.',
    fix: 'Aggregate, select fewer columns, or page with limit and skip.',
    message: 'The answer is larger than 268435456 bytes.',
    details: { limit: { name: 'resultBytes', value: 268435456, unit: 'bytes' } },
  },
  UnsupportedMediaType: {
    meaning: 'The route does not take a body of this Content-Type.',
    fix: "Say what the body is with -H 'Content-Type: …'; curl -d says form data unless told otherwise.",
    message: "This route takes JSON, not 'application/x-www-form-urlencoded'.",
    details: { candidates: ['application/json'] },
  },
  UnsupportedEncoding: {
    meaning: 'The Content-Encoding is none that the node can undo.',
    fix: 'Send gzip, deflate, br or zstd, or an uncompressed body.',
    message: "The content encoding 'lz4' is not supported.",
    details: { candidates: ['gzip', 'deflate', 'br', 'zstd'] },
  },
  MisdirectedRequest: {
    meaning: 'The Host header names another machine. A node that listens on loopback answers to loopback names only.',
    fix: 'Use localhost, or start the node with --allowed-hosts and the name.',
    message: "This node does not answer to the host name 'example.org'.",
  },
  InvalidRequest: {
    meaning: 'The body is JSON, but a member is missing, unknown, of another type or out of range.',
    fix: 'Correct the member that the message names. GET /openapi.json describes the body.',
    message: "The member 'querry' is not known here.",
  },
  RecordsDoNotFit: {
    meaning: 'At least one record does not fit the columns. Nothing of the batch was stored.',
    fix: 'Correct the records that errors names. unknownFields=ignore or add deals with new fields.',
    message: "Record 0: the field size is 'big', which is not a Float64. Nothing was stored.",
    details: {
      errors: [
        { record: 0, line: 1, byteOffset: 8, pointer: '/size', kind: 'WrongType', message: 'is not a Float64.' },
      ],
    },
  },
  InvalidColumnName: {
    meaning: 'A column name is empty, too long, has control characters, or equals another one up to case.',
    fix: 'Rename the field in the records or in the schema.',
    message: 'The column names "city" and "City" differ at most in case.',
  },
  UnsupportedCrs: {
    meaning: 'The coordinates are in a reference system other than WGS 84.',
    fix: 'Reproject to EPSG:4326.',
    message: 'The coordinate system EPSG:3857 is not supported.',
  },
  NothingToInfer: {
    meaning: 'The dataset would be created from this body, but it has no records to take the columns from.',
    fix: 'Send records, or declare the schema with PUT.',
    message: 'The body has no records, so there are no columns to create the dataset with.',
  },
  UnsupportedProofType: {
    meaning: 'The proof is of a type other than Ed25519Signature2020.',
    fix: 'Verify it with software that knows the type.',
    message: 'Proofs of the type "RsaSignature2018" cannot be checked, only Ed25519Signature2020.',
  },
  NotReproducible: {
    meaning: 'A proof was asked for a statement that gives another answer each time.',
    fix: 'Write a fixed value instead, or ask without a proof.',
    message: "The function 'now' gives another answer each time, so there can be no proof.",
    details: at(7),
  },
  QuotaExceeded: {
    meaning: 'The caller has used up what it may use for now. Nothing was stored.',
    fix: 'Wait as long as Retry-After says, then repeat.',
    message: 'The quota of this token is used up.',
  },
  Internal: {
    meaning: 'The node failed. A query can be repeated; whether a batch was stored is not said.',
    fix: 'Repeat a batch with the same Idempotency-Key. If it happens again, report it with the request id in instance.',
    message: 'The node failed to handle this request; the log of the node says why.',
  },
  OutcomeUnknown: {
    meaning: 'The answer of the log was lost: the batch or the dataset may be stored or not.',
    fix: 'Repeat the same request with the same Idempotency-Key; it is stored once.',
    message: 'The log failed while it was being written; the rows may or may not be stored.',
    details: sameKey,
  },
  Saturated: {
    meaning: 'The node has as much under way as it can hold. Nothing was stored.',
    fix: 'Wait as long as Retry-After says, then repeat.',
    message: 'The node has as many bodies under way as it can hold.',
    details: { retryAfterSeconds: 1 },
  },
  Draining: {
    meaning: 'The node is shutting down. Nothing was stored.',
    fix: 'Wait as long as Retry-After says, then repeat.',
    message: 'The node is shutting down.',
    details: { retryAfterSeconds: 2 },
  },
  LogUnavailable: {
    meaning: 'The log, or this dataset in it, takes no rows; the message says why. Nothing was stored. Reads go on.',
    fix: 'Repeat later. If the message names a halt such as LogReplaced or ChainBroken, an operator must act.',
    message: 'The dataset takes no rows: ChainBroken: block 7 does not name block 6.',
  },
  QueryTimeout: {
    meaning: 'The query took longer than a query may, or the client went away.',
    fix: 'Ask for less: filter, aggregate. --limit-query-ms is the time.',
    message: 'The query took longer than 30000 ms.',
    details: { limit: { name: 'queryMs', value: 30000, unit: 'ms' } },
  },
  StorageFull: {
    meaning: 'The volume of the log or the store is nearly full. Nothing was stored. Reads go on.',
    fix: 'Make room on the volume, then repeat.',
    message: 'The volume of the log is full; nothing was stored.',
  },
}
