// /q: statements with a name, whose parameters stand in their addresses. A caller that may read all of its datasets may run
// one. A caller that may make them all may save, replace and delete it.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { defined } from '../../../libraries/base/collections.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { fromPlain, jsonText } from '../../../libraries/base/json/json.ts'
import type { JsonValue } from '../../../libraries/base/json/value.ts'
import { foldAscii } from '../../../libraries/model/names.ts'
import { type Parameters, parametersJson, parametersOver } from '../../../libraries/model/parameters.ts'
import { can, demand, type Principal } from '../../access/scopes.ts'
import { lookAt } from '../../answers/bind.ts'
import { isQueryName, type SavedQuery } from '../../catalog/saved-queries.ts'
import { callerOf } from '../answer.ts'
import type { HttpContext, ReplicaContext } from '../context.ts'
import { wantsPage } from '../html.ts'
import { ParametersMember, parametersOfBody, takeParameters } from '../query-values.ts'
import { DecimalText, pageSize } from '../request-target.ts'
import { AnswerParameters, respond, wantedOf } from './query.ts'

const Params = Type.Object({
  name: Type.String({ maxLength: 200, description: 'Lower-case letters, digits and single inner hyphens.' }),
})

const SavedBody = Type.Object(
  {
    query: Type.String({ description: 'One SELECT statement.' }),
    about: Type.Optional(Type.String({ maxLength: 1000, description: 'What it is for.' })),
    parameters: ParametersMember,
  },
  { additionalProperties: false },
)

const RunString = Type.Object(AnswerParameters, { additionalProperties: Type.String({ maxLength: 10_000 }) })
/** Names in an address that say how the rows are wanted. */
const answerNames: readonly string[] = Object.keys(AnswerParameters)
/** Names that no parameter of a saved statement has: those, and the others of /query. */
const reservedNames: readonly string[] = [
  ...answerNames,
  'pin',
  'query',
  'queryDialect',
  'run',
  'datasets',
  'parameters',
]

const ListString = Type.Object(
  {
    after: Type.Optional(Type.String({ maxLength: 200, description: 'Name of the last query of the previous page.' })),
    limit: Type.Optional(DecimalText('Queries of one page, 1 to 1,000; 100 by default.')),
  },
  { additionalProperties: false },
)
/** The page shows its rows by itself. */
const dataParameters = answerNames.filter((name) => name !== 'limit')

/** Registers the list, and the running of each. */
export function registerSavedQueries(app: FastifyInstance, context: ReplicaContext): void {
  app.get('/q', { config: { right: 'read' }, schema: { querystring: ListString } }, async (request, reply) => {
    const { queries, next } = await listQueries(context, request)
    const shown = queries.map(([name, saved]) => shownQuery(name, saved))
    return sendJson(
      reply,
      new Map<string, JsonValue>([['queries', shown], ...(next === undefined ? [] : [['next', next] as const])]),
    )
  })
  app.get(
    '/q/:name',
    {
      config: { right: 'read', runs: true, dataParameters },
      // The fields of the page's form may be empty: then what was saved counts.
      preValidation: async (request) => {
        if (!wantsPage(request)) return
        request.query = Object.fromEntries(Object.entries(Object(request.query)).filter(([, value]) => value !== ''))
      },
      schema: { params: Params, querystring: RunString },
    },
    async (request, reply) => {
      const { name } = request.params as Static<typeof Params> // validated
      const saved = await readableQuery(context, request, name)
      const asked = request.query as Static<typeof RunString> // validated
      const { parameters, ...statement } = savedAsked(saved, asked)
      const wanted = { ...wantedOf(asked), ...statement }
      return await respond(context, request, { reply, asked: wanted, values: () => ({ parameters }) })
    },
  )
}

/** Registers saving and deleting, which need the gateway's store and the replica's look at a statement. */
export function registerQuerySaving(app: FastifyInstance, context: ReplicaContext): void {
  app.put(
    '/q/:name',
    {
      config: { right: 'create', reads: 'tokens' },
      // The name comes before the body is read; the path has one.
      onRequest: async (request) => demandName((request.params as { name: string }).name),
      preValidation: takeParameters,
      schema: { params: Params, body: SavedBody },
    },
    async (request, reply) => {
      const { name } = request.params as Static<typeof Params> // validated
      const asked = await askedToSave(context, request, reply)
      for (;;) {
        const before = await context.savedQueries.get(name)
        if (before !== undefined && !(await maySave(context, request.principal, before))) throw otherQuery(name)
        const saved = await context.savedQueries.save(name, asked, before)
        // Another came first under this name: that one is judged.
        if (saved !== undefined) return sendJson(reply.code(before === undefined ? 201 : 200), shownQuery(name, saved))
      }
    },
  )
  app.delete('/q/:name', { config: { right: 'create' }, schema: { params: Params } }, async (request, reply) => {
    const { name } = request.params as Static<typeof Params> // validated
    const saved = isQueryName(name) ? await context.savedQueries.get(name) : undefined
    const mayDelete = saved !== undefined && (await maySave(context, request.principal, saved))
    if (!mayDelete) {
      if (saved === undefined || !(await mayRun(context, request.principal, saved))) throw queryNotFound(name)
      throw new NodeError('Forbidden', `This token may not delete ${name}.`, {
        hint: `Use a token with the scope create that covers ${saved.datasets.map(({ alias }) => alias).join(', ')}.`,
      })
    }
    await context.savedQueries.remove(name)
    return reply.code(204).send()
  })
}

interface QueryList {
  readonly queries: readonly (readonly [name: string, saved: SavedQuery])[]
  /** Name that the next page goes on after. */
  readonly next?: string
}

/** The page of those that the caller may run that the query string asks for, in order of names. */
export async function listQueries(
  context: HttpContext,
  { principal, query }: Pick<FastifyRequest, 'principal' | 'query'>,
): Promise<QueryList> {
  const { after = '', limit } = query as Static<typeof ListString> // validated
  const items = pageSize(limit)
  const queries: (readonly [string, SavedQuery])[] = []
  for (const [name, saved] of await context.savedQueries.list()) {
    if (name <= after || !(await mayRun(context, principal, saved))) continue
    const next = queries.at(-1)?.[0]
    if (queries.length === items && next !== undefined) return { queries, next }
    queries.push([name, saved])
  }
  return { queries }
}

/**
 * One that the caller may run. Throws NodeError `SavedQueryNotFound`; `DatasetNotFound` where one of its datasets is gone,
 * `InvalidRequest` where they have other names by now.
 */
export async function readableQuery(
  context: HttpContext,
  { principal }: Pick<FastifyRequest, 'principal'>,
  name: string,
): Promise<SavedQuery> {
  const saved = isQueryName(name) ? await context.savedQueries.get(name) : undefined
  if (saved === undefined || !(await mayRun(context, principal, saved))) throw queryNotFound(name)
  for (const { id, alias } of saved.datasets) {
    const now = await context.catalog.nameOfId(id)
    if (now === undefined) {
      throw new NodeError('DatasetNotFound', `${alias}, which this query asks, is gone.`, {
        hint: `Save another statement in its place: PUT /q/${name}. Or delete it: DELETE /q/${name}.`,
      })
    }
    if (foldAscii(now.alias) === foldAscii(alias) || !alias.includes('/')) continue
    throw new NodeError('InvalidRequest', `'${alias}', which this query asks, is called '${now.alias}' now.`, {
      hint: `Save it again with that name: PUT /q/${name}.`,
    })
  }
  return saved
}

/** What runs for an address: what was saved, and the values that the address gives. Throws NodeError `InvalidParameter`. */
export function savedAsked(
  { query, datasets, parameters }: SavedQuery,
  asked: Readonly<Record<string, unknown>>,
): Pick<SavedQuery, 'query'> & {
  readonly datasets: { id: string; alias: string }[]
  readonly parameters: Parameters | undefined
} {
  return { query, datasets: [...datasets], parameters: parametersOver(parameters, givenValues(asked)) }
}

/** Values of parameters in a query string, by their names in lower case. Throws NodeError `InvalidParameter` for one given twice. */
export function givenValues(asked: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const given = new Map<string, string>()
  for (const [member, value] of Object.entries(asked)) {
    if (answerNames.includes(member) || typeof value !== 'string') continue
    const name = foldAscii(member.replace(/^param\./, ''))
    if (given.has(name)) throw new NodeError('InvalidParameter', `The value of $${name.slice(0, 100)} is given twice.`)
    given.set(name, value)
  }
  return given
}

/** Reads the body, and the statement as far as it can be without running it. Throws as `lookAt`, and as `demand`. */
async function askedToSave(
  context: ReplicaContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Omit<SavedQuery, 'savedAt'>> {
  const { query, about } = request.body as Static<typeof SavedBody> // validated
  const usual = parametersOfBody(request)?.values ?? []
  const found = await lookAt(context.replica, query, callerOf(context, request, reply))
  const { datasets, parameters, listings } = found
  if (datasets.length === 0 || listings.length > 0) {
    throw new NodeError('InvalidRequest', 'The statement reads no dataset, or the catalog.', {
      hint: 'Save a SELECT over a dataset. Anyone who may read the dataset may run it.',
    })
  }
  for (const { id, alias } of datasets) {
    demand(request.principal, 'create', alias, await context.catalog.nameOfId(id))
  }
  const names = parameters.map(({ name }) => name)
  const taken = names.find((name) => reservedNames.some((other) => foldAscii(other) === name))
  if (taken !== undefined) {
    throw new NodeError(
      'InvalidRequest',
      `The statement has the parameter $${taken}, whose name has a meaning in an address.`,
      {
        hint: `Give the parameter another name than ${reservedNames.join(', ')}.`,
      },
    )
  }
  const surplus = usual.find(({ name }) => !names.includes(foldAscii(name)))
  if (surplus !== undefined) {
    throw new NodeError(
      'InvalidRequest',
      `A value is given for $${surplus.name}, and the statement has no such parameter.`,
      {
        candidates: names.map((name) => `$${name}`),
      },
    )
  }
  const required = names.filter((name) => !usual.some((value) => foldAscii(value.name) === name))
  return { query, ...defined({ about }), parameters: usual, required, datasets }
}

/** One whose dataset is gone is seen by those who may delete it; running it says so. */
async function mayRun({ catalog }: HttpContext, principal: Principal, { datasets }: SavedQuery): Promise<boolean> {
  for (const { id, alias } of datasets) {
    const name = await catalog.nameOfId(id)
    const may =
      name === undefined ? can(principal, 'create', { alias, visibility: 'private' }) : can(principal, 'read', name)
    if (!may) return false
  }
  return true
}

/** A dataset that is gone counts under the name that it had. */
async function maySave({ catalog }: HttpContext, principal: Principal, { datasets }: SavedQuery): Promise<boolean> {
  for (const { id, alias } of datasets) {
    const name = (await catalog.nameOfId(id)) ?? { alias, visibility: 'private' }
    if (!can(principal, 'create', name)) return false
  }
  return true
}

/** A saved query as it is told. */
function shownQuery(name: string, { query, about, parameters, required, datasets, savedAt }: SavedQuery): JsonValue {
  const told = fromPlain({ name, query, ...defined({ about }), required, datasets, savedAt })
  if (parameters.length > 0 && told instanceof Map) {
    told.set('parameters', parametersJson({ form: 'object', values: parameters }))
  }
  return told
}

function sendJson(reply: FastifyReply, value: JsonValue): FastifyReply {
  return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(jsonText(value))
}

function demandName(name: string): void {
  if (isQueryName(name)) return
  throw new NodeError('InvalidName', `'${name.slice(0, 100)}' is no name of a query.`, {
    hint: 'Use lower-case letters, digits and single inner hyphens, at most 100 characters.',
  })
}

function otherQuery(name: string): NodeError {
  return new NodeError('Forbidden', `Another query is saved as ${name}, over datasets that this token may not make.`, {
    hint: 'Choose another name.',
  })
}

function queryNotFound(name: string): NodeError {
  return new NodeError('SavedQueryNotFound', `There is no saved query ${name.slice(0, 100)}.`, {
    hint: 'GET /q lists those that you may run.',
  })
}
