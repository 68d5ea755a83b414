// What the pages of saved queries show: their list, and one with its values and its answer. An address of one runs it: its
// statement is of somebody who may make its datasets.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PageContext } from '../../../node/http/context.ts'
import { givenValues, listQueries, readableQuery, savedAsked } from '../../../node/http/routes/saved-queries.ts'
import { foldAscii } from '../../../libraries/model/names.ts'
import type { Page } from '../layout.ts'
import { savedQueriesPage, savedQueryPage } from '../saved-query-pages.ts'
import { type Asked, mostRows, resultOf } from './query.ts'

export async function savedQueriesPageOf({ context }: PageContext, request: FastifyRequest): Promise<Page> {
  const { queries, next } = await listQueries(context, request)
  return savedQueriesPage(
    queries.map(([name, saved]) => ({ ...saved, name })),
    { nowMs: context.clock.nowMs(), next },
  )
}

/** Throws NodeErrors `SavedQueryNotFound`, `InvalidRequest`, `InvalidParameter`. */
export async function savedQueryPageOf(
  { context, reading }: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Page | undefined> {
  if (reading === undefined) return undefined
  const { name } = request.params as { name: string } // validated by the route
  const saved = await readableQuery(context, request, name)
  const { limit, ...values } = request.query as Record<string, string> // validated
  const given = givenValues(values)
  const defaults = saved.parameters.map((one) => ({ name: foldAscii(one.name), value: one.text }))
  const fields = [...saved.required.map((parameter) => ({ name: parameter, value: '' })), ...defaults].map((field) => ({
    name: field.name,
    value: given.get(field.name) ?? field.value,
  }))
  const address = `/q/${name}?${new URLSearchParams(values)}`
  const asked = (): Asked => {
    const { parameters, datasets, query } = savedAsked(saved, values)
    return { query, limit: limit === undefined ? undefined : Number(limit), saved: { datasets, parameters, address } }
  }
  const isReady = saved.required.every((parameter) => given.has(parameter))
  // A value that no parameter takes is refused as programs are told, and does not wait for the others.
  const isSurplus = [...given.keys()].some((key) => !fields.some((field) => field.name === key))
  const result = isReady || isSurplus ? await resultOf(reading, { request, reply, asked }) : undefined
  return savedQueryPage({ name, about: saved.about, query: saved.query, fields, limit, mostRows, result })
}
