// One body of each error kind, as a node says it: the examples of the error pages and of the OpenAPI document.

import type { ErrorKind } from '../model/error-table.ts'
import type { ErrorDetails } from '../model/errors.ts'

export interface ErrorExample extends Omit<ErrorDetails, 'cause'> {
  readonly message: string
}

const hash = `f1620${'0'.repeat(64)}`
const otherHash = `f1620${'1'.repeat(64)}`
const did = `did:odf:fed01${'c'.repeat(64)}`

export const errorExamples: Readonly<Record<ErrorKind, ErrorExample>> = {
  InvalidName: {
    message: "'my_data' is not a valid name.",
    hint: "'_' is not allowed in names: write 'my-data'. Use ASCII letters, digits and single inner hyphens, in labels joined by dots, at most 100 characters.",
  },
  ReservedName: { message: "The account name 'query' is reserved.", hint: 'Choose another account name.' },
  InvalidParameter: {
    message: "The parameter 'limmit' is not known here.",
    hint: 'GET /openapi.json describes every parameter.',
  },
  BadAuthorization: {
    message: 'The Authorization header is not of the form Bearer <token>.',
    hint: 'Send Authorization: Bearer pst_…, or leave the header out. Basic takes the token as password.',
  },
  MalformedJson: {
    message: 'The body is not well-formed JSON: it has the member "query" twice.',
    position: { offset: 22, line: 1, column: 23 },
  },
  MalformedBody: {
    message: 'The body is not valid gzip.',
    hint: 'Check Content-Encoding against what was sent; a cut-off upload looks like this too.',
  },
  SqlSyntax: { message: 'syntax error at or near "acme".', position: { offset: 14, line: 1, column: 15 } },
  SqlUnknownName: {
    message: 'Referenced column "citty" not found in FROM clause!',
    position: { offset: 7, line: 1, column: 8 },
    candidates: ['city', 'event_time', 'system_time'],
  },
  SqlValue: { message: "Could not convert string 'abc' to INT32" },
  QueryNotAllowed: {
    message: 'Queries may not use the table function read_csv.',
    hint: 'A query is one SELECT statement over datasets.',
    position: { offset: 14, line: 1, column: 15 },
  },
  DuplicateColumn: {
    message: "Two output columns are named 'id'.",
    hint: 'Name them with AS, leave one out with EXCLUDE, or ask for JsonAoa.',
    candidates: ['id'],
  },
  UnsupportedDialect: {
    message: "The query dialect 'SqlSpark' of other nodes is not one that runs here.",
    hint: 'Use SqlDuckDb.',
    candidates: ['SqlDuckDb', 'SqlDuckDb/1.5.6-2'],
  },
  EngineUnavailable: {
    message: 'This node runs SqlDuckDb/1.5.6-2, not SqlDuckDb/1.0.0-1.',
    candidates: ['SqlDuckDb', 'SqlDuckDb/1.5.6-2'],
  },
  'InvalidRequest::InputHash': {
    message:
      "The commitment is invalid and cannot be disputed: commitment.inputHash doesn't match the hash of the input.",
  },
  'InvalidRequest::SubQueriesHash': {
    message:
      "The commitment is invalid and cannot be disputed: commitment.subQueriesHash doesn't match the hash of the sub-queries.",
  },
  'InvalidRequest::BadSignature': {
    message: 'The commitment is invalid and cannot be disputed: the verification equation is not satisfied.',
  },
  'InvalidRequest::OutputHash': {
    message: "The output is not the one that was signed: commitment.outputHash doesn't match its hash.",
  },
  'InvalidRequest::UnpinnedDataset': {
    message: "The query names 'acme/goods', which input.datasets does not pin.",
    position: { offset: 14, line: 1, column: 15 },
  },
  'VerificationFailed::OutputMismatch': {
    message: 'Running the query again gave another output than the one that was signed.',
    extra: { expected_hash: hash, actual_hash: otherHash },
  },
  'VerificationFailed::DatasetNotFound': {
    message: `The dataset ${did} is not known here.`,
    hint: 'Verify on a node that holds it.',
    extra: { dataset_id: did },
  },
  'VerificationFailed::DatasetBlockNotFound': {
    message: `The block ${hash} is not in the chain of ${did} here.`,
    extra: { dataset_id: did, block_hash: hash },
  },
  'VerificationFailed::NotReproducible': {
    message: "The function 'random' gives another answer each time, so there can be no proof.",
  },
  'VerificationInconclusive::EngineUnavailable': {
    message: 'The proof names SqlDuckDb/1.0.0-1; this node runs SqlDuckDb/1.5.6-2 and got another output.',
    extra: { proof_engine: 'SqlDuckDb/1.0.0-1', node_engine: 'SqlDuckDb/1.5.6-2' },
  },
  Unauthenticated: { message: 'This needs a token.', hint: 'Send the header Authorization: Bearer <token>.' },
  Forbidden: {
    message: 'This token may not send records to acme/goods.',
    hint: 'Use a token with the scope ingest that covers acme/goods.',
  },
  DatasetNotFound: {
    message: 'There is no dataset acme/nothing.',
    hint: 'Create it: PUT /acme/nothing, or send records with create=true.',
  },
  BlockNotFound: { message: `'acme/goods' has no block ${hash}.` },
  ObjectNotFound: { message: `'acme/goods' has no object ${hash}.` },
  ReceiptNotFound: { message: 'There is no such receipt.', hint: 'Receipt ids are those that ingest answers give.' },
  TokenNotFound: { message: 'There is no token with this id.' },
  RouteNotFound: { message: 'There is no route /qurey.', hint: 'GET / lists the routes.' },
  MethodNotAllowed: { message: '/query does not take DELETE.', candidates: ['GET', 'HEAD', 'POST'] },
  RequestTimeout: { message: 'The request did not arrive in time.' },
  DatasetExists: {
    message: "There is a dataset 'acme/goods' already, and it is not the one asked for.",
    hint: 'Choose another name, or send records to the one that is there.',
  },
  IdempotencyKeyReused: {
    message: "The Idempotency-Key 'reading-1' was used for another body.",
    hint: 'Use a new key for each batch; repeat a batch with its own key.',
  },
  SchemaConflict: { message: 'The rows do not fit the dataset: the column size has another type.' },
  OtherLog: { message: "The rows of 'acme/goods' go to another log than this node's." },
  HeadMoved: {
    message: "The head of 'acme/goods' is not the one that If-Match names.",
    hint: 'Read what came since, then send with the current head.',
    extra: { head: hash },
  },
  BodyTooLarge: {
    message: 'The body is larger than 268435456 bytes.',
    limit: { name: 'bodyBytes', value: 268435456, unit: 'bytes' },
  },
  ResultTooLarge: {
    message: 'The answer is larger than 268435456 bytes.',
    limit: { name: 'resultBytes', value: 268435456, unit: 'bytes' },
  },
  UnsupportedMediaType: {
    message: "This route takes JSON, not 'application/x-www-form-urlencoded'.",
    hint: "Send -H 'Content-Type: application/json'.",
    candidates: ['application/json'],
  },
  UnsupportedEncoding: {
    message: "The content encoding 'lz4' is not supported.",
    hint: 'Send the body as it is, or compressed with gzip, deflate, br or zstd (one of them).',
    candidates: ['gzip', 'deflate', 'br', 'zstd'],
  },
  RangeNotSatisfiable: { message: "The range 'bytes=4096-' is outside the object of 1234 bytes." },
  MisdirectedRequest: {
    message: "This node does not answer to the host name 'example.org'.",
    hint: 'Use localhost, or start the node with --allowed-hosts.',
  },
  InvalidRequest: {
    message: "The member 'querry' is not known here.",
    hint: 'GET /openapi.json describes every parameter.',
  },
  RecordsDoNotFit: {
    message: "Record 0: Column 'size' holds Float64; this is a text. Nothing was stored.",
    errors: [
      {
        record: 0,
        line: 1,
        byteOffset: 8,
        column: 'size',
        pointer: '/size',
        kind: 'WrongType',
        message: "Column 'size' holds Float64; this is a text.",
        excerpt: '"big"',
      },
    ],
  },
  InvalidColumnName: {
    message: 'The column names "city" and "City" differ at most in case.',
    hint: 'Names of columns must differ in more than upper and lower case; the system columns count too.',
  },
  UnsupportedCrs: { message: 'The coordinate system EPSG:3857 is not supported.' },
  NothingToInfer: {
    message: 'The body has no records, so there are no columns to create the dataset with.',
    hint: 'Send records, or declare the schema with PUT.',
  },
  UnsupportedProofType: {
    message: 'Proofs of the type "RsaSignature2018" cannot be checked, only Ed25519Signature2020.',
  },
  NotReproducible: {
    message: 'now() gives another answer each time, so there can be no proof.',
    hint: 'Write a fixed value instead, or ask without a proof.',
    position: { offset: 7, line: 1, column: 8 },
  },
  QuotaExceeded: {
    message: 'This token has used up its 100 requests/s.',
    hint: 'Wait as long as Retry-After says, then send it again.',
    limit: { name: 'callerRequestRate', value: 100, unit: 'requests/s' },
    retryAfterSeconds: 1,
  },
  Internal: { message: 'The node failed to handle this request; the log of the node says why.' },
  OutcomeUnknown: {
    message: 'The log failed while it was being written; the rows may or may not be stored.',
    hint: 'Repeat the request with the same Idempotency-Key.',
  },
  Saturated: { message: 'The node has as many bodies under way as it can hold.', retryAfterSeconds: 1 },
  Draining: { message: 'The node is shutting down.', retryAfterSeconds: 2 },
  LogUnavailable: { message: 'The dataset takes no rows: ChainBroken: block 7 does not name block 6.' },
  QueryTimeout: {
    message: 'The query took longer than 30000 ms.',
    limit: { name: 'queryMs', value: 30000, unit: 'ms' },
  },
  StorageFull: { message: 'The volume of the log is full; nothing was stored.' },
}
