// What the page of a row shows, collected for the caller: its values, its block, its proofs.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Page } from '../layout.ts'
import { rowPage, type ShownRow } from '../row-page.ts'
import { must } from '../../../libraries/base/assert.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { parseJson } from '../../../libraries/base/json/json.ts'
import { typeText } from '../../../libraries/model/schema.ts'
import { viewOf } from '../../../node/catalog/dataset-chain.ts'
import { datasetOf } from '../../../node/http/access.ts'
import type { PageContext } from '../../../node/http/context.ts'
import { offsetOf, rowText } from '../../../node/http/routes/rows.ts'
import { isSystem } from './datasets.ts'
import { proofsOf } from './proofs.ts'
import { plainText } from './query.ts'

/** Of one value. */
const shownValueChars = 100_000

/** Undefined where the process answers no questions: the route says so. Throws NodeError `ObjectNotFound`. */
export async function rowPageOf(
  { context, reading }: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Page | undefined> {
  const { chain } = await datasetOf(context.catalog, request, 'read')
  const offset = offsetOf(request)
  // A row that is not there: the route says so.
  if (reading === undefined || offset >= chain.head.rows) return undefined
  const view = viewOf(chain)
  const slice = must(chain.slices.at(chain.slices.numberWith(offset)), 'a slice has the row')
  const block = must(chain.blocks.at(slice.sequence), 'a block has the slice')
  const of = { request, reply }
  return rowPage({
    alias: view.alias,
    offset,
    all: view.rows,
    offsetColumn: view.vocabulary.offsetColumn,
    values: await valuesOf(async () => await rowText(reading, chain, of), view),
    block,
    proofs: await proofsOf(context, chain, { block, offset }),
  })
}

async function valuesOf(read: () => Promise<string>, view: ReturnType<typeof viewOf>): Promise<ShownRow['values']> {
  try {
    const row = parseJson(await read())
    return (view.schema?.fields ?? []).map((field) => {
      const value = row instanceof Map ? (row.get(field.name) ?? null) : null
      const text = value === null ? undefined : plainText(value)
      const isCut = text !== undefined && text.length > shownValueChars
      return {
        name: field.name,
        type: typeText(field.type).replace(/\?$/, ''),
        isSystem: isSystem(view, field),
        text: isCut ? `${text.slice(0, shownValueChars).replace(/[\ud800-\udbff]$/, '')}…` : text,
        isCut,
      }
    })
  } catch (error) {
    if (error instanceof NodeError) return { reason: `The values cannot be shown now: ${error.message}` }
    throw error
  }
}
