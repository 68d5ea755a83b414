// What the page of a block shows, collected for the caller: the block as it is stored, its neighbours, its last rows.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type DatasetView, viewOf } from '../../../node/catalog/dataset-chain.ts'
import { decodedBlock, hashOf } from '../../../node/catalog/objects.ts'
import { blockPage } from '../block-page.ts'
import { shownCellChars } from '../dataset-page.ts'
import type { Page } from '../layout.ts'
import type { ShownRows } from '../rows-part.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { newestRows } from '../newest-rows.ts'
import { datasetOf } from '../../../node/http/access.ts'
import { callerOf } from '../../../node/http/answer.ts'
import type { PageContext, ReplicaContext } from '../../../node/http/context.ts'
import { isNumber, shownBlock, shownFields, shownRows } from './datasets.ts'
import { proofsOf } from './proofs.ts'

/** Of an event: attachments may be large. */
const shownEventChars = 20_000

/** Undefined where the chain has no such block: the route says so. Throws HaltError `ChainBroken` for a damaged one. */
export async function blockPageOf(
  { context, reading }: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Page | undefined> {
  const { chain } = await datasetOf(context.catalog, request, 'read')
  const { hash: text } = request.params as { hash: string } // validated by the route
  const sequence = chain.sequenceOf(hashOf(text))
  const block = sequence === undefined ? undefined : chain.blocks.at(sequence)
  if (sequence === undefined || block === undefined) return undefined
  const { event, prevBlockHash } = await decodedBlock(context.objects, chain.name, block.hash)
  const shown = shownBlock(chain, block)
  const view = viewOf(chain, sequence)
  const json = JSON.stringify(event, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value), 2)
  return blockPage({
    ...shown,
    alias: chain.name.alias,
    previous: prevBlockHash,
    next: chain.blocks.at(sequence + 1)?.hash,
    slice: shown.rows === 0 ? undefined : view.slices.at(-1)?.hash,
    event: json.length > shownEventChars ? `${json.slice(0, shownEventChars)}…` : json,
    last: shown.rows === 0 ? undefined : await lastRows(reading, view, { rows: shown.rows, request, reply }),
    offsetColumn: view.vocabulary.offsetColumn,
    numbers: new Set(shownFields(view).flatMap((field) => (isNumber(field) ? [field.name] : []))),
    proofs: await proofsOf(context, chain, { block }),
    signers: (await context.signers()).map(({ did }) => did),
  })
}

/** The last rows of the block at which `view` is. */
async function lastRows(
  reading: ReplicaContext | undefined,
  view: DatasetView,
  { rows, request, reply }: { readonly rows: number; readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<ShownRows> {
  if (reading === undefined) return { reason: 'This node answers no questions: ask one with the role replica.' }
  const fields = shownFields(view)
  const glance = { deps: reading.replica, view, caller: callerOf(reading, request, reply) }
  try {
    const found = await newestRows(glance, { fields, limit: Math.min(rows, shownRows), cellChars: shownCellChars })
    return { columns: fields.map(({ name }) => name), rows: found }
  } catch (error) {
    if (error instanceof NodeError) return { reason: `The rows cannot be shown now: ${error.message}` }
    throw error
  }
}
