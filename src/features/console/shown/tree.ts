// What there is to ask on the SQL page: the datasets of the caller with their columns, and questions to begin with.

import type { FastifyRequest } from 'fastify'
import { examplesOf } from '../examples.ts'
import type { ShownTree } from '../query-page.ts'
import { typeText } from '../../../libraries/model/schema.ts'
import { viewOf } from '../../../node/catalog/dataset-chain.ts'
import { mayRead } from '../../../node/http/access.ts'
import type { HttpContext } from '../../../node/http/context.ts'
import { listable } from '../../../node/http/routes/datasets.ts'

const [treeDatasets, treeColumns] = [30, 60]

/** The first datasets that the caller may read, with their columns. */
export async function treeOf(context: HttpContext, request: FastifyRequest): Promise<ShownTree[]> {
  const names = (await context.catalog.names()).filter(mayRead(request)).slice(0, treeDatasets)
  const chains = await Promise.all(names.map(({ alias }) => listable(context, alias)))
  return chains.flatMap((chain) => {
    if (chain === undefined) return []
    const view = viewOf(chain)
    const own = new Set(Object.values(view.vocabulary))
    const all = view.schema?.fields ?? []
    const fields = all.filter((field) => !own.has(field.name))
    const eventTime = view.vocabulary.eventTimeColumn
    return {
      alias: view.alias,
      rows: view.rows,
      columns: all.slice(0, treeColumns).map(({ name, type }) => ({ name, type: typeText(type).replace(/\?$/, '') })),
      examples: view.rows === 0 ? [] : examplesOf({ alias: view.alias, fields, eventTime }),
    }
  })
}
