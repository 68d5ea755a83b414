// GET …/proof: that the ledger has a block, a batch, a row or a statement, as a file that a stranger checks without this node. A caller who is shown
// the block, the receipt or the row may have it; it shows the salts of what it proves and no others.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { must } from '../../libraries/base/assert.ts'
import { timeText } from '../../libraries/base/clock.ts'
import { defined } from '../../libraries/base/collections.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { JsonObject } from '../../libraries/base/json/value.ts'
import { proofJsonText } from '../../libraries/ledger/proof-document.ts'
import { signRecord } from '../../libraries/ledger/signed-record.ts'
import { maxExtraLine, tlogProofText } from '../../libraries/ledger/tlog-proof.ts'
import { can } from '../../node/access/scopes.ts'
import { viewAt } from '../../node/answers/pin.ts'
import type { DatasetChain } from '../../node/catalog/dataset-chain.ts'
import { hashOf } from '../../node/catalog/objects.ts'
import { datasetOf } from '../../node/http/access.ts'
import { callerKey } from '../../node/http/answer.ts'
import type { GatewayContext, HttpContext } from '../../node/http/context.ts'
import { DatasetParams, DecimalText } from '../../node/http/request-target.ts'
import { type Answers, blockShown, type Never, type Proven, type Shown } from './answers.ts'
import { equalBytes } from '../../libraries/base/bytes.ts'
import { type BlockEntry, noRoot, parseEntry } from '../../libraries/ledger/entry.ts'
import { batchSalt, rowSalt } from '../../libraries/ledger/roots.ts'
import type { ChainBlock } from '../../node/catalog/packed-blocks.ts'
import type { Receipt } from '../../node/gateway/receipts.ts'
import type { Below, BlockRecords } from '../../node/files/block-records.ts'

export const ProofQuery = Type.Object(
  {
    format: Type.Optional(
      Type.String({
        pattern: '^(?:tlog-proof|json)$',
        description: '`tlog-proof` (default): the file of C2SP. `json`: the same as one JSON value.',
      }),
    ),
  },
  { additionalProperties: false },
)

interface ProofRoutes<C> {
  readonly context: C
  /** There once the feature has started. */
  readonly answers: Promise<Answers>
}

export function registerProofs(app: FastifyInstance, { context, answers }: ProofRoutes<HttpContext>): void {
  const ofBlock = Type.Object({
    ...DatasetParams.properties,
    hash: Type.String({ maxLength: 120, description: 'Multibase multihash: f1620…, or the same in F, u, z.' }),
  })
  app.get(
    '/:account/:dataset/blocks/:hash/proof',
    { config: { right: 'read' }, schema: { params: ofBlock, querystring: ProofQuery } },
    async (request, reply) => {
      const { chain } = await datasetOf(context.catalog, request, 'read')
      const { hash } = request.params as { hash: string } // validated above
      const { block } = await viewAt(context.catalog, chain, hashOf(hash))
      const ledger = await answers
      return await sendProof(request, reply, {
        ledger,
        proven: await ledger.prove(chain.name, block, blockShown(block)),
      })
    },
  )
  const ofRow = Type.Object({ ...DatasetParams.properties, offset: DecimalText('Offset of the row in the dataset.') })
  app.get(
    '/:account/:dataset/rows/:offset/proof',
    { config: { right: 'read' }, schema: { params: ofRow, querystring: ProofQuery } },
    async (request, reply) => {
      const { chain } = await datasetOf(context.catalog, request, 'read')
      const { offset } = request.params as { offset: string } // validated above
      const ledger = await answers
      const of = { chain, by: callerKey(request), nodeKey: context.nodeKey }
      return await sendProof(request, reply, { ledger, proven: await proveRow(ledger, of, Number(offset)) })
    },
  )
}

export function registerReceiptProofs(app: FastifyInstance, { context, answers }: ProofRoutes<GatewayContext>): void {
  const params = Type.Object({ id: Type.String({ maxLength: 1400, description: 'receiptId of an ingest answer.' }) })
  app.get(
    '/receipts/:id/proof',
    { config: { right: 'read' }, schema: { params, querystring: ProofQuery } },
    async (request, reply) => {
      const { id } = request.params as { id: string } // validated above
      const { principal } = request
      const found = await context.gateway.receipt(id, (sender, dataset) => {
        return (sender !== undefined && sender === principal.tokenId) || can(principal, 'read', dataset)
      })
      const ledger = await answers
      return await sendProof(request, reply, {
        ledger,
        proven: await proveBatch(ledger, found, { by: callerKey(request), nodeKey: context.nodeKey }),
      })
    },
  )
}

type FoundReceipt = Awaited<ReturnType<GatewayContext['gateway']['receipt']>>

/** Whom a proof is made for, and with which key. */
type For = Pick<RecordsIn, 'by' | 'nodeKey'>

async function proveBatch(
  ledger: Answers,
  { receipt, chain, batchId }: FoundReceipt,
  { by, nodeKey }: For,
): Promise<Proven> {
  const { status, records } = receipt
  if (status === 'accepted') return { kind: 'not yet' }
  if (status === 'lost') return never('The batch is lost: no block has it, and none will.')
  const block = receipt.block && chain.blocks.at(receipt.block.sequence)
  if (block === undefined || records.received === 0) return never('A batch without records is in no block.')
  const of = { records: ledger.records, chain, block, by, nodeKey }
  return await ledger.prove(chain.name, block, batchShown(of, batchId, receipt))
}

async function proveRow(
  ledger: Answers,
  { chain, by, nodeKey }: For & { readonly chain: DatasetChain },
  offset: number,
): Promise<Proven> {
  const { rows } = chain.head
  if (offset >= rows) return never(`'${chain.name.alias}' has ${rows} rows, and none with the offset ${offset}.`)
  const slice = must(chain.slices.at(chain.slices.numberWith(offset)), 'a slice has the row')
  const block = must(chain.blocks.at(slice.sequence), 'a block has the slice')
  return await ledger.prove(chain.name, block, rowShown({ records: ledger.records, chain, block, by, nodeKey }, offset))
}

/** Sends a proof. Throws NodeErrors `NoSuchProof`, `NotYetInLedger`. */
export async function sendProof(
  request: FastifyRequest,
  reply: FastifyReply,
  { ledger, proven }: { readonly ledger: Answers; readonly proven: Proven },
): Promise<FastifyReply> {
  if (proven.kind === 'never') throw noSuchProof(proven)
  if (proven.kind === 'not yet') throw notYet(ledger, proven)
  const { document, proof, quorum } = proven
  const { format } = request.query as Static<typeof ProofQuery> // ProofQuery validated it
  const body =
    format === 'json' ? proofJsonText(document, proof, await ledger.timestampOf(proven)) : tlogProofText(proof)
  if (body === undefined) {
    const why = `The proof has a line of more than ${maxExtraLine} characters, which readers in Go do not take.`
    throw noSuchProof({ kind: 'never', why, hint: 'Ask for it with format=json.' })
  }
  void reply.header('cache-control', 'no-cache').header('ledger-quorum', quorum)
  return reply.type(format === 'json' ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8').send(body)
}

type Coming = Proven & { readonly kind: 'not yet' }

function noSuchProof({ why, hint }: Never): NodeError {
  return new NodeError('NoSuchProof', why, defined({ hint }))
}

function notYet({ stepSeconds }: Answers, { byMs, what = 'The batch is in no block' }: Coming): NodeError {
  const message =
    byMs === undefined ? `${what} yet.` : `No head of the ledger has it yet. It is due at ${timeText(byMs)}.`
  return new NodeError('NotYetInLedger', message, { hint: 'Ask again.', retryAfterSeconds: stepSeconds })
}

/** Where the record is. */
interface RecordsIn {
  /** What the node says beside the entry is signed with it. */
  readonly nodeKey: HttpContext['nodeKey']
  /** Key of the caller, by whom proofs take turns. */
  readonly by: readonly string[]
  readonly records: BlockRecords
  readonly chain: DatasetChain
  readonly block: ChainBlock
}

/** What the proof of a batch shows, which has this id and receipt. */
function batchShown({ records, by, nodeKey, ...of }: RecordsIn, batchId: string, receipt: Receipt): Shown {
  return async ({ any, secret }) => {
    const { batchRoot } = blockEntry(any.entry)
    if (equalBytes(batchRoot, noRoot)) return never('Its block has no root of batches in the ledger.')
    const wanted = { id: batchId, bodyHash: receipt.bodyHash, status: receipt.status }
    const { shown } = demandRoot(await records.inTurn(by, () => records.batches({ ...of, secret }, wanted)), batchRoot)
    if (shown === undefined) return never('Its block has these records from another batch.')
    const { record, place } = shown
    const signed = said(any.entry, of, nodeKey)
    return { ...any, kind: 'batch', record, salt: batchSalt(secret, place.index), ...place, signed }
  }
}

/** What the proof of a row shows. */
function rowShown({ records, by, nodeKey, ...of }: RecordsIn, offset: number): Shown {
  return async ({ any, secret }) => {
    const { rowRoot } = blockEntry(any.entry)
    if (equalBytes(rowRoot, noRoot)) return noRows(of.chain)
    const { shown } = demandRoot(await records.inTurn(by, () => records.rows({ ...of, secret }, offset)), rowRoot)
    if (shown === undefined) return never('Its block has no such row.')
    const signed = said(any.entry, of, nodeKey)
    return { ...any, kind: 'row', record: shown.record, salt: rowSalt(secret, offset), ...shown.place, signed }
  }
}

/** What the node says of a record beside its entry. */
function said(
  entry: Uint8Array,
  { chain, block }: Pick<RecordsIn, 'chain' | 'block'>,
  key: RecordsIn['nodeKey'],
): JsonObject {
  return signRecord(entry, { dataset: chain.name.alias, blockTime: block.systemTime }, key)
}

function noRows({ name: { alias, proofs } }: DatasetChain): Never {
  const what = `The block of this row has no root of rows in the ledger`
  if (proofs === 'rows') return never(`${what}: it was entered before ${alias} had them, or has values of such types.`)
  return { ...never(`${what}.`), hint: 'PATCH the dataset with {"proofs": "rows"}: it counts for blocks to come.' }
}

/** The entry is of a block, since it was found as that. */
function blockEntry(bytes: Uint8Array): Pick<BlockEntry, 'batchRoot' | 'rowRoot'> {
  const entry = parseEntry(bytes)
  return entry.kind === 'block' ? entry : { batchRoot: noRoot, rowRoot: noRoot }
}

/** Throws NodeError `StoreUnavailable` where what is stored gives another root. */
function demandRoot(below: Below | undefined, root: Uint8Array): Below {
  if (below !== undefined && equalBytes(below.root, root)) return below
  throw new NodeError('StoreUnavailable', 'The records of the block are not those of its entry in the ledger.')
}

function never(why: string): Never {
  return { kind: 'never', why }
}
