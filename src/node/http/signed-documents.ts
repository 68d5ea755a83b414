// What the node key signs on request of a sender: the receipt of a batch, with what the ledger promises of its block, and the
// refusal of one. Nothing is signed on the way of an answer that does not ask for it.

import { assert } from '../../libraries/base/assert.ts'
import { timeText } from '../../libraries/base/clock.ts'
import { defined } from '../../libraries/base/collections.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { fromPlain, toPlain } from '../../libraries/base/json/json.ts'
import type { JsonObject } from '../../libraries/base/json/value.ts'
import { refusalDomain, receiptDomain, signDocument } from '../../libraries/ledger/signed-document.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { IngestRequest } from '../gateway/gateway.ts'
import type { Receipt } from '../gateway/receipts.ts'
import { type HttpContext, ledgerOf } from './context.ts'

/** Record errors that a refusal names. */
const mostErrors = 10

/** The receipt with `batchId`, `time` and `proof`; of a committed block with `promise`, where the ledger makes one. */
export async function signedReceipt(
  context: HttpContext,
  { receipt, chain, batchId }: { readonly receipt: Receipt; readonly chain: DatasetChain; readonly batchId: string },
): Promise<JsonObject> {
  const { block, times } = receipt
  const promise =
    block === undefined || times.committed === undefined
      ? undefined
      : await ledgerOf(context)?.promiseOf(chain.name, { ...block, systemTime: times.committed })
  const time = timeText(context.clock.nowMs())
  return signed(context, receiptDomain, { ...receipt, batchId, time, ...defined({ promise }) })
}

/** The error with its refusal, where the whole body was read and is what was refused; else as it is. */
export function withRefusal(context: HttpContext, { alias, chain }: IngestRequest, error: unknown): unknown {
  if (!(error instanceof NodeError) || error.details.bodyHash === undefined) return error
  const { kind, message, details } = error
  const refusal = {
    dataset: { ...defined({ id: chain?.name.id }), alias: chain?.name.alias ?? alias.text },
    bodyHash: details.bodyHash,
    kind,
    errors: details.errors?.slice(0, mostErrors) ?? [],
    time: timeText(context.clock.nowMs()),
  }
  return new NodeError(kind, message, { ...details, refusal: Object(toPlain(signed(context, refusalDomain, refusal))) })
}

function signed({ nodeKey }: HttpContext, domain: string, document: object): JsonObject {
  const value = fromPlain(document)
  assert(value instanceof Map, 'an object is one in JSON, too')
  return signDocument(domain, value, nodeKey)
}
