// /q: statements with a name, whose parameters stand in their addresses. Whoever may read all that one asks may run it;
// whoever may make all of that may save it, replace it and delete it.

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
/** Names in an address that say how the rows are wanted: no parameter of a saved statement has one. */
const answerNames: readonly string[] = Object.keys(AnswerParameters)
/** The page shows its rows by itself. */
const dataParameters = answerNames.filter((name) => name !== 'limit')

/** Registers the list, and the running of each. */
export function registerSavedQueries(app: FastifyInstance, context: ReplicaContext): void {
  app.get('/q', { config: { right: 'read' } }, async (request, reply) => {
    const queries = (await readableQueries(context, request)).map(([name, saved]) => shownQuery(name, saved))
    return sendJson(reply, new Map([['queries', queries]]))
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
      const before = await context.savedQueries.get(name)
      const asked = await askedToSave(context, request, reply)
      if (before !== undefined && !(await maySave(context, request.principal, before))) {
        throw new NodeError(
          'Forbidden',
          `Another query is saved as ${name}, over datasets that this token may not make.`,
          {
            hint: 'Choose another name.',
          },
        )
      }
      const saved = await context.savedQueries.save(name, asked)
      return sendJson(reply.code(before === undefined ? 201 : 200), shownQuery(name, saved))
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

/** Those that the caller may run, or delete, by name. */
export async function readableQueries(
  context: HttpContext,
  { principal }: Pick<FastifyRequest, 'principal'>,
): Promise<readonly (readonly [name: string, saved: SavedQuery])[]> {
  const all = await context.savedQueries.list()
  const shown = await Promise.all(
    all.map(
      async ([, saved]) => (await mayRun(context, principal, saved)) || (await maySave(context, principal, saved)),
    ),
  )
  return all.filter((_, at) => shown[at])
}

/** One that the caller may run. Throws NodeError `SavedQueryNotFound`; `InvalidRequest` where its datasets have other names by now. */
export async function readableQuery(
  context: HttpContext,
  { principal }: Pick<FastifyRequest, 'principal'>,
  name: string,
): Promise<SavedQuery> {
  const saved = isQueryName(name) ? await context.savedQueries.get(name) : undefined
  if (saved === undefined || !(await mayRun(context, principal, saved))) throw queryNotFound(name)
  for (const { id, alias } of saved.datasets) {
    const now = await context.catalog.nameOfId(id)
    if (now === undefined || foldAscii(now.alias) === foldAscii(alias) || !alias.includes('/')) continue
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
  const given = Object.entries(asked).flatMap(([name, value]): [string, string][] =>
    answerNames.includes(name) || typeof value !== 'string' ? [] : [[name.replace(/^param\./, ''), value]],
  )
  return { query, datasets: [...datasets], parameters: parametersOver(parameters, new Map(given)) }
}

/** Reads the body, and the statement as far as it can be without running it. Throws as `lookAt`, and as `demand`. */
async function askedToSave(
  context: ReplicaContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Omit<SavedQuery, 'savedAt'>> {
  const { query, about } = request.body as Static<typeof SavedBody> // validated
  const usual = parametersOfBody(request)?.values ?? []
  const { datasets, parameters } = await lookAt(context.replica, query, callerOf(context, request, reply))
  if (datasets.length === 0) {
    throw new NodeError('InvalidRequest', 'The statement reads no dataset.', {
      hint: 'Save a SELECT over a dataset: who may read that may run it.',
    })
  }
  for (const { id, alias } of datasets) {
    demand(request.principal, 'create', alias, await context.catalog.nameOfId(id))
  }
  const names = parameters.map(({ name }) => name)
  const taken = names.find((name) => answerNames.some((other) => foldAscii(other) === name))
  if (taken !== undefined) {
    throw new NodeError(
      'InvalidRequest',
      `The statement has the parameter $${taken}, and ?${taken}= says which rows are wanted.`,
      {
        hint: `Give the parameter another name than ${answerNames.join(', ')}.`,
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

async function mayRun({ catalog }: HttpContext, principal: Principal, { datasets }: SavedQuery): Promise<boolean> {
  for (const { id } of datasets) {
    const name = await catalog.nameOfId(id)
    if (name === undefined || !can(principal, 'read', name)) return false
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

function queryNotFound(name: string): NodeError {
  return new NodeError('SavedQueryNotFound', `There is no saved query ${name.slice(0, 100)}.`, {
    hint: 'GET /q lists those that you may run.',
  })
}
