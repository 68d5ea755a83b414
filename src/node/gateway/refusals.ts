// The errors that the chain's state is the reason for: 409 and 412 of docs/spec/http.md §6. Pure.

import type { Deletion } from '../../libraries/odf/chain/records.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { BatchStatus } from '../../libraries/odf/chain/checkpoint.ts'
import { type ErrorKind, errorTable } from '../../libraries/base/error-table.ts'
import { HaltError, NodeError } from '../../libraries/base/errors.ts'
import type { Hash } from '../../libraries/base/ids/identifiers.ts'
import type { Alias } from '../../libraries/model/names.ts'

/** A refusal with the hash of the body that it is of; any other error as it is. */
export function ofBody(error: unknown, bodyHash: Hash | undefined): unknown {
  if (bodyHash === undefined || !(error instanceof NodeError) || errorTable[error.kind].status >= 500) return error
  return new NodeError(error.kind, error.message, { ...error.details, bodyHash })
}

export function headMoved(chain: DatasetChain): NodeError {
  return new NodeError('HeadMoved', `The head of '${chain.name.alias}' is not the one that If-Match names.`, {
    hint: 'Read what came since, then send with the current head.',
    extra: { head: chain.head.hash },
  })
}

/** If-Match on a dataset that does not exist. */
export function noHead(alias: Alias): NodeError {
  return new NodeError(
    'HeadMoved',
    `There is no dataset '${alias.text}', so it has no head that If-Match could name.`,
    { hint: 'Leave If-Match out to create the dataset.' },
  )
}

/** What is sent to become private must not end in what everyone reads. Throws NodeError `DatasetExists`. */
export function demandVisibility(chain: DatasetChain, asked: 'public' | 'private' | undefined): void {
  const { alias, visibility } = chain.name
  if (asked === undefined || asked === visibility) return
  throw new NodeError('DatasetExists', `There is a dataset '${alias}' already, and it is ${visibility}.`, {
    hint: 'Nothing was stored. Choose another name, or leave visibility out.',
  })
}

/** Throws NodeError `DatasetDeleted` while a dataset that was deleted can be restored. */
export function demandKnown({ name, at, until }: Deletion, nowMs: number): void {
  if (nowMs >= Date.parse(until)) return
  throw new NodeError('DatasetDeleted', `The dataset '${name.alias}' was deleted at ${at}.`, {
    hint: `It can be restored until ${until}: POST /datasets/${name.id}/restore.`,
    extra: { deleted_at: at },
  })
}

/** A deletion that can no longer be taken back. */
export function graceOver({ name, at, until }: Deletion): NodeError {
  return new NodeError('DatasetDeleted', `The dataset '${name.alias}' was deleted at ${at}.`, {
    hint: `It could be restored until ${until}.`,
    extra: { deleted_at: at },
  })
}

export function nameTaken(alias: string): NodeError {
  return new NodeError('DatasetExists', `There is a dataset '${alias}' already.`, {
    hint: 'Choose another name with {"alias": "account/dataset"}.',
  })
}

export function keyReused(key: string): NodeError {
  return new NodeError('IdempotencyKeyReused', `The Idempotency-Key '${key}' was used for another body.`, {
    hint: 'Use a new key for each batch; repeat a batch with its own key.',
  })
}

/** `message` is that of the rejection. */
export function fenced(message: string): NodeError {
  return new NodeError('ProducerFenced', message, { hint: 'Another sender has taken this Producer-Id over.' })
}

/** `message` is that of the rejection; it ends with the number that is expected, where that is known. */
function sequenceGap(message: string): NodeError {
  const expected = /(\d+)\.$/.exec(message)?.[1]
  return new NodeError('SequenceGap', message, {
    hint: 'Send from there on; a blank line stands for a record that is lost.',
    ...(expected === undefined ? {} : { extra: { expected: Number(expected) } }),
  })
}

/** The error that a rejection in the log means for the caller who waited. */
export function rejection(status: Extract<BatchStatus, { kind: 'rejected' }>, chain: DatasetChain): NodeError {
  if (status.error === 'HeadMoved') return headMoved(chain)
  if (status.error === 'SequenceGap') return sequenceGap(status.message)
  if (status.error === 'ProducerFenced') return fenced(status.message)
  const kind = Object.hasOwn(errorTable, status.error) ? (status.error as ErrorKind) : 'SchemaConflict' // a key of the table
  return new NodeError(kind, status.message, {
    hint:
      kind === 'SchemaConflict'
        ? 'Another batch changed the columns first: look at the schema, then send records that fit it.'
        : 'Nothing of this batch was stored.',
  })
}

/** What a damaged chain means for rows, before any is logged: none are taken. Throws any other error as it is. */
export function takesNoRows(error: unknown): never {
  if (!(error instanceof HaltError)) throw error
  throw new NodeError('LogUnavailable', `The dataset takes no rows: ${error.message}`, {
    hint: 'An operator has to look at it: proofstream fsck lists all that is damaged.',
    retryAfterSeconds: 30,
    cause: error,
  })
}

/** Throws NodeError `StorageFull`. */
export function demandSpace(hasRoom: boolean): void {
  if (hasRoom) return
  throw new NodeError('StorageFull', 'The volume of the store is full.', {
    hint: 'An operator has to make room; nothing was stored.',
  })
}

/** Throws NodeError `OtherLog`, `LogUnavailable` when the dataset takes no rows here: not of `log`, or halted. */
export function demandOpen(
  { name }: DatasetChain,
  { log, halt }: { readonly log: string; readonly halt: string | undefined },
): void {
  if (name.log !== log) {
    throw new NodeError('OtherLog', `The rows of '${name.alias}' go to another log than this node's.`, {
      hint: 'Send them to a node of that log.',
    })
  }
  if (halt === undefined) return
  throw new NodeError('LogUnavailable', `The dataset takes no rows: ${halt}`, {
    hint: 'An operator has to look at it; reads go on.',
    retryAfterSeconds: 30,
  })
}

/** Throws NodeError `LogUnavailable` where a new dataset would not be built, or would be dated wrongly. */
export function demandBuilt(alias: string, halt: string | undefined): void {
  if (halt === undefined) return
  throw new NodeError('LogUnavailable', `'${alias}' cannot be made now: ${halt}`, {
    hint: 'An operator has to look at it; reads go on.',
    retryAfterSeconds: 30,
  })
}
