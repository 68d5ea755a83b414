// The closed table of error kinds (docs/spec/http.md, Appendix A): one source for bodies, status codes, pages, OpenAPI.

interface KindRow {
  readonly status: number
  readonly title: string
}

export const errorTable = {
  InvalidName: { status: 400, title: 'The name is malformed' },
  ReservedName: { status: 400, title: 'The account name is reserved' },
  InvalidParameter: { status: 400, title: 'A parameter or header is wrong' },
  BadAuthorization: { status: 400, title: 'The Authorization header is malformed' },
  MalformedJson: { status: 400, title: 'The body is not well-formed JSON' },
  MalformedBody: { status: 400, title: 'The body is not what its media type says' },
  DigestMismatch: { status: 400, title: 'The body does not match its digest' },
  SqlSyntax: { status: 400, title: 'The SQL is not valid' },
  SqlUnknownName: { status: 400, title: 'The SQL names something that does not exist' },
  SqlValue: { status: 400, title: 'The SQL met a value it cannot handle' },
  QueryNotAllowed: { status: 400, title: 'The statement does what queries may not do' },
  DuplicateColumn: { status: 400, title: 'Two output columns have the same name' },
  UnsupportedDialect: { status: 400, title: 'The query dialect is not supported' },
  EngineUnavailable: { status: 400, title: 'The engine version is not available here' },
  'InvalidRequest::InputHash': { status: 400, title: 'The input does not match its hash' },
  'InvalidRequest::SubQueriesHash': { status: 400, title: 'The sub-queries do not match their hash' },
  'InvalidRequest::BadSignature': { status: 400, title: 'The signature is not valid' },
  'InvalidRequest::OutputHash': { status: 400, title: 'The output does not match its hash' },
  'InvalidRequest::RewrittenOutput': { status: 400, title: 'The output was parsed and printed by a JSON library' },
  'InvalidRequest::UnpinnedDataset': { status: 400, title: 'A dataset of the query is not pinned to a block' },
  'VerificationFailed::OutputMismatch': { status: 400, title: 'Running the query again gave a different output' },
  'VerificationFailed::DatasetNotFound': { status: 400, title: 'A dataset of the proof is not known here' },
  'VerificationFailed::DatasetBlockNotFound': { status: 400, title: 'A block of the proof is not known here' },
  'VerificationFailed::NotReproducible': {
    status: 400,
    title: 'The statement of the proof cannot be reproduced',
  },
  'VerificationInconclusive::EngineUnavailable': { status: 400, title: 'The proof names another engine version' },
  'VerificationInconclusive::DatasetDeleted': { status: 400, title: 'A dataset of the proof was deleted' },
  Unauthenticated: { status: 401, title: 'A valid token is needed' },
  Forbidden: { status: 403, title: 'The token lacks the right' },
  DatasetNotFound: { status: 404, title: 'No such dataset' },
  BlockNotFound: { status: 404, title: 'No such block' },
  ObjectNotFound: { status: 404, title: 'No such object' },
  ReceiptNotFound: { status: 404, title: 'No such receipt' },
  SavedQueryNotFound: { status: 404, title: 'No such saved query' },
  NoSuchProof: { status: 404, title: 'There is no such proof' },
  TokenNotFound: { status: 404, title: 'No such token' },
  RouteNotFound: { status: 404, title: 'No such route' },
  MethodNotAllowed: { status: 405, title: 'The route does not take this method' },
  RequestTimeout: { status: 408, title: 'The request arrived too slowly' },
  NotYetInLedger: { status: 409, title: 'The ledger does not have it yet' },
  DatasetExists: { status: 409, title: 'The dataset exists and differs' },
  IdempotencyKeyReused: { status: 409, title: 'The idempotency key was used for a different body' },
  SchemaConflict: { status: 409, title: 'The schema changed before these records were logged' },
  LedgerKeepsBlocks: { status: 409, title: 'The ledger keeps what is entered' },
  SequenceGap: { status: 409, title: 'Records are missing before these' },
  ProducerFenced: { status: 409, title: 'Another sender has taken over' },
  OtherLog: { status: 409, title: 'The dataset belongs to another log' },
  DatasetDeleted: { status: 410, title: 'The dataset was deleted' },
  HeadMoved: { status: 412, title: 'The dataset has changed' },
  BodyTooLarge: { status: 413, title: 'The body is too large' },
  ResultTooLarge: { status: 413, title: 'The result is too large' },
  UnsupportedMediaType: { status: 415, title: 'The media type is not supported' },
  UnsupportedEncoding: { status: 415, title: 'The content encoding is not supported' },
  RangeNotSatisfiable: { status: 416, title: 'The range is outside the object' },
  MisdirectedRequest: { status: 421, title: 'The node does not answer to this Host' },
  InvalidRequest: { status: 422, title: 'The request is not valid' },
  RecordsDoNotFit: { status: 422, title: 'Some records do not fit the dataset' },
  InvalidColumnName: { status: 422, title: 'A column name is not allowed' },
  UnsupportedCrs: { status: 422, title: 'The coordinate system is not supported' },
  SayHow: { status: 422, title: 'The first batch has to say how it is read' },
  NothingToInfer: { status: 422, title: 'There are no records to infer a schema from' },
  UnsupportedProofType: { status: 422, title: 'The proof type is not supported' },
  NotReproducible: { status: 422, title: 'The statement cannot be reproduced, so it cannot be proven' },
  UpgradeRequired: { status: 426, title: 'This version of WebSocket is not supported' },
  QuotaExceeded: { status: 429, title: 'The quota is used up' },
  Internal: { status: 500, title: 'The node failed' },
  OutcomeUnknown: { status: 500, title: 'The outcome is unknown' },
  Saturated: { status: 503, title: 'The node is saturated' },
  Draining: { status: 503, title: 'The node is shutting down' },
  LogUnavailable: { status: 503, title: 'The log cannot be written' },
  StoreUnavailable: { status: 503, title: 'The store cannot be reached' },
  CopyBehind: { status: 503, title: 'The copy is behind' },
  QueryTimeout: { status: 504, title: 'The query took too long' },
  StorageFull: { status: 507, title: 'The storage is full' },
} as const satisfies Record<string, KindRow>

export type ErrorKind = keyof typeof errorTable

const retryableStatus: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])

/** True when repeating the same request may succeed (with the same Idempotency-Key for `OutcomeUnknown`). */
export function isRetryable(kind: ErrorKind): boolean {
  return kind === 'OutcomeUnknown' || kind === 'NotYetInLedger' || retryableStatus.has(errorTable[kind].status)
}

/** `InvalidRequest::InputHash` → `invalid-request-input-hash`, the page name under `/errors/`. */
export function kindSlug(kind: ErrorKind): string {
  return kind
    .replaceAll('::', '')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
}
