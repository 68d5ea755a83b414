// GET and POST /query: one SELECT over any datasets the caller may read, with a signed proof where asked; POST /verify
// checks a saved answer and runs it again on the blocks that it names.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { NodeError } from '../../../libraries/base/errors.ts'
import {
  normaliseInclude,
  type QueryRequest,
  type SchemaFormat,
  schemaFormatOf,
  schemaFormats,
} from '../../../libraries/model/query.ts'
import type { FileFacts } from '../../../libraries/columnar/outputs/file-format.ts'
import { jsonLayoutOf } from '../../../libraries/columnar/outputs/layouts.ts'
import { type AskedFile, readFileOptions } from '../../../libraries/formats/file-choices.ts'
import { usualLimit, usualRows } from '../../../libraries/sql/own-limit.ts'
import type { ReadProof } from '../../../libraries/proof/read-proof.ts'
import { openFileQuery } from '../../answers/files.ts'
import { openQuery } from '../../answers/query.ts'
import { verifyProof } from '../../answers/verify.ts'
import { callerOf, isUnchanged, sendAnswer, tellScan } from '../answer.ts'
import type { ReplicaContext } from '../context.ts'
import { fileNameOf, noProofOfFile, proofLink, sendFile } from '../file-answer.ts'
import { wantsPage } from '../html.ts'
import { askedOfLedger, withLedger } from '../ledger-member.ts'
import {
  parameterPattern,
  ParametersMember,
  parametersOfBody,
  parametersOfQuery,
  Pin,
  pinOf,
  PinText,
  pinsOfQuery,
  takeParameters,
} from '../query-values.ts'
import { DataFormatText, DecimalText, FileMembers, FileParameters, SchemaFormatText } from '../request-target.ts'

const ExplainText = '`true`: the statement is run in any case, and Query-Scan tells what of its datasets was read.'

const DialectText = Type.String({ description: 'SqlDuckDb (default), or the full name that input echoes.' })

const QueryBody = Type.Object(
  {
    query: Type.String({ description: 'One SELECT statement.' }),
    queryDialect: Type.Optional(DialectText),
    dataFormat: Type.Optional(DataFormatText),
    schemaFormat: Type.Optional(
      Type.Union([SchemaFormatText, Type.Null()], {
        description: 'ArrowJson (default), OdfJson, OdfYaml, Parquet or ParquetJson. Naming one includes Schema.',
      }),
    ),
    include: Type.Optional(
      Type.Array(Type.String({ maxLength: 20 }), { maxItems: 12, description: 'Input, Proof, Schema; Ledger.' }),
    ),
    datasets: Type.Optional(
      Type.Union([Type.Array(Pin, { maxItems: 1000 }), Type.Null()], {
        description:
          'What names mean, and at which block: [{id, alias, blockHash?, blockTime?}]. When given, no other names resolve.',
      }),
    ),
    parameters: ParametersMember,
    skip: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Rows to skip at the start (default: 0).',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Maximum number of rows (default: 100, or what a LIMIT at the end of the statement says if that is more, and in a file all).',
      }),
    ),
    explain: Type.Optional(Type.Boolean({ description: ExplainText })),
    ...FileMembers,
  },
  { additionalProperties: false },
)

/** How the rows are wanted, in a query string. */
export const AnswerParameters = {
  dataFormat: Type.Optional(DataFormatText),
  format: Type.Optional(DataFormatText),
  schemaFormat: Type.Optional(SchemaFormatText),
  include: Type.Optional(Type.String({ description: 'Comma list of Input, Proof, Schema, Ledger.', maxLength: 200 })),
  skip: Type.Optional(DecimalText('Rows left out at the start.')),
  limit: Type.Optional(
    DecimalText(
      'Maximum number of rows (default: 100, or what a LIMIT at the end of the statement says if that is more, and in a file all).',
    ),
  ),
  explain: Type.Optional(Type.String({ pattern: '^(?:true|false)$', description: ExplainText })),
  ...FileParameters,
}

const QueryString = Type.Object(
  {
    query: Type.String({ description: 'One SELECT statement.' }),
    queryDialect: Type.Optional(DialectText),
    ...AnswerParameters,
    pin: PinText,
    run: Type.Optional(Type.String({ maxLength: 40, description: 'For the pages for browsers.' })),
  },
  { additionalProperties: false, patternProperties: parameterPattern },
)

/** Those of the page for browsers. */
const pageParameters = ['query', 'limit', 'run']

export function registerQuery(app: FastifyInstance, context: ReplicaContext): void {
  app.post(
    '/query',
    {
      config: { right: 'read', runs: true, reads: 'tokens', pageParameters },
      preValidation: takeParameters,
      schema: { body: QueryBody },
    },
    (request, reply) => {
      const asked = request.body as Static<typeof QueryBody> // QueryBody validated it
      return respond(context, request, { reply, asked, values: () => ({ parameters: parametersOfBody(request) }) })
    },
  )
  app.get(
    '/query',
    {
      config: { right: 'read', runs: true, pageParameters },
      // The fields of the page's form may be empty.
      preValidation: async (request) => {
        if (!wantsPage(request)) return
        const { limit, ...rest } = Object(request.query)
        request.query = { query: '', ...rest, ...(limit !== undefined && limit !== '' && { limit }) }
      },
      schema: { querystring: QueryString },
    },
    (request, reply) => {
      const { pin, ...rest } = request.query as Static<typeof QueryString> // validated
      const asked = wantedOf(rest)
      const values = () => ({ parameters: parametersOfQuery(rest), pins: pinsOfQuery(pin) })
      return respond(context, request, { reply, asked, values })
    },
  )
}

interface AnswerWords {
  readonly format?: string | undefined
  readonly dataFormat?: string | undefined
  readonly include?: string | undefined
}

/** A query string with its one format and its list. Throws NodeError `InvalidParameter`. */
export function wantedOf<T extends AnswerWords>({
  format,
  dataFormat,
  include,
  ...rest
}: T): Omit<T, keyof AnswerWords> & Pick<AskedQuery, 'dataFormat' | 'include'> {
  const names = include?.split(',').map((name) => name.trim())
  return { ...rest, dataFormat: oneFormat({ format, dataFormat }), include: names?.filter((name) => name !== '') }
}

/** The format's name under either of its names. Throws NodeError `InvalidParameter` where both are given. */
export function oneFormat(asked: {
  readonly format?: string | undefined
  readonly dataFormat?: string | undefined
}): string | undefined {
  if (asked.format !== undefined && asked.dataFormat !== undefined) {
    throw new NodeError('InvalidParameter', 'format is another name for dataFormat: give one of them.')
  }
  return asked.dataFormat ?? asked.format
}

/** A request's members in either form. */
interface AskedQuery extends AskedWindow {
  readonly query: string
  readonly queryDialect?: string | undefined
  readonly schemaFormat?: string | null | undefined
  readonly include?: readonly string[] | undefined
  readonly datasets?: readonly Static<typeof Pin>[] | null | undefined
  readonly explain?: boolean | string | undefined
}

interface Asked {
  readonly reply: FastifyReply
  readonly asked: AskedQuery
  /** Reads what stands beside the statement. Throws NodeError `InvalidParameter`. */
  readonly values: () => {
    readonly parameters: QueryRequest['parameters'] | undefined
    readonly pins?: QueryRequest['pins'] | undefined
  }
}

/** Answers with the rows: as JSON, or as a file. Throws the NodeErrors of docs/spec/http.md §4. */
export async function respond(
  context: ReplicaContext,
  request: FastifyRequest,
  { reply, asked, values }: Asked,
): Promise<FastifyReply> {
  const format = context.outputs.asked(asked.dataFormat, request.headers.accept)
  if (format !== undefined) return await respondFile(context, request, { reply, asked, values, format })
  const { query, ledger } = await inItsPlace(request, async () => {
    const { include, ledger } = askedOfLedger(context, asked.include)
    const normalised = normalise({ ...asked, include }, context, present(values()))
    return { query: await openQuery(context.replica, normalised, callerOf(context, request, reply)), ledger }
  })
  void reply.header('cache-control', query.isOfCaller ? 'no-store' : 'no-cache')
  // The proofs of the ledger go on.
  const conditional = request.method !== 'POST' && query.tag !== undefined && ledger === undefined
  if (conditional && isUnchanged(request, reply, query.tag)) return reply.code(304).send()
  const answer = await query.answer()
  if (isExplained(asked)) tellScan(reply, query.scan)
  if (answer.truncated) void reply.header('result-truncated', 'true')
  if (query.tag !== undefined) void reply.header('answer-stability', answer.stability)
  if (ledger === undefined) return sendAnswer(context, reply, answer)
  const body = await withLedger(context, answer.body, { pinned: query.pinned, ledger })
  return sendAnswer(context, reply, { ...answer, body })
}

function isExplained({ explain }: AskedQuery): boolean {
  return explain === true || explain === 'true'
}

function present({ parameters, pins }: ReturnType<Asked['values']>): Pick<QueryRequest, 'parameters' | 'pins'> {
  return { ...(parameters && { parameters }), ...(pins && { pins }) }
}

/** Answers with the rows as a file. */
async function respondFile(
  context: ReplicaContext,
  request: FastifyRequest,
  { reply, asked, values, format }: Asked & { readonly format: FileFacts },
): Promise<FastifyReply> {
  const read = (): Parameters<typeof openFileQuery>[1] => ({
    ...present(values()),
    query: asked.query,
    queryDialect: asked.queryDialect ?? 'SqlDuckDb',
    datasets: asked.datasets?.map(pinOf),
    format,
    options: readFileOptions(asked, format),
    skip: Number(asked.skip ?? 0),
    limit: asked.limit === undefined ? undefined : Number(asked.limit),
    explain: isExplained(asked),
  })
  const { wanted, file } = await inItsPlace(request, async () => {
    const wanted = read()
    return { wanted, file: await openFileQuery(context.replica, wanted, callerOf(context, request, reply)) }
  })
  const { query: sql, skip, limit, parameters, pins } = wanted
  const { include: names = [], ledger } = askedOfLedger(context, asked.include)
  const include = normaliseInclude(names, readSchemaFormat(asked.schemaFormat) !== undefined)
  if (include.includes('Proof')) {
    const link = { heads: file.pins, sql, parameters, skip, rows: limit ?? context.limits.resultRows }
    throw noProofOfFile(format, file.isProvable ? proofLink(context, link) : undefined)
  }
  if (include.length > 0 || ledger !== undefined) {
    throw new NodeError('InvalidRequest', `${format.name} holds the rows alone.`, {
      hint: 'Leave include and schemaFormat away, or ask for JsonAoa.',
    })
  }
  const shared = request.principal.tokenId === undefined ? 'no-cache' : 'private, no-cache'
  void reply.header('cache-control', file.isOfCaller ? 'no-store' : shared)
  const truncated = limit === undefined ? false : 'at end'
  const start: typeof file.start = async (...given) => {
    const started = await file.start(...given)
    if (isExplained(asked) && file.scan !== undefined) tellScan(reply, file.scan)
    return started
  }
  return await sendFile(context, request, reply, {
    format,
    file: { ...file, start },
    name: fileNameOf(file.heads),
    query: file.isProvable ? { sql, skip, parameters } : undefined,
    truncated,
    isPinned: pins !== undefined || wanted.datasets?.every(({ blockHash }) => blockHash !== undefined) === true,
  })
}

/** A wrong value is `InvalidParameter` in a query string and `InvalidRequest` in a body. */
export async function inItsPlace<T>({ method }: FastifyRequest, read: () => Promise<T>): Promise<T> {
  const [wrong, right] =
    method === 'POST'
      ? (['InvalidParameter', 'InvalidRequest'] as const)
      : (['InvalidRequest', 'InvalidParameter'] as const)
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof NodeError && error.kind === wrong)) throw error
    throw new NodeError(right, error.message, error.details)
  }
}

/** The request with its defaults, and what stands beside the statement. Throws NodeError `InvalidParameter`. */
export function normalise(
  asked: AskedQuery,
  context: ReplicaContext,
  beside: Pick<QueryRequest, 'parameters' | 'pins'>,
): QueryRequest {
  const limit = asked.limit ?? usualLimit(asked.query, context.limits.resultRows, beside.parameters?.values)
  const window = readWindow({ ...asked, limit }, 'JsonAoa', context)
  const schemaFormat = readSchemaFormat(asked.schemaFormat)
  return {
    query: asked.query,
    queryDialect: asked.queryDialect ?? 'SqlDuckDb',
    ...window,
    dataFormatText: window.dataFormat,
    schemaFormat: schemaFormat ?? 'ArrowJson',
    include: normaliseInclude(asked.include ?? [], schemaFormat !== undefined),
    includeAbsent: asked.include === undefined,
    datasets: asked.datasets?.map(pinOf),
    explain: isExplained(asked),
    ...beside,
  }
}

/** Which rows are asked for, and in which format; numbers are digits in a query string. */
interface AskedWindow extends AskedFile {
  readonly dataFormat?: string | undefined
  readonly skip?: number | string | undefined
  readonly limit?: number | string | undefined
}

/** The window with its defaults. Throws NodeError `InvalidParameter`. */
export function readWindow(
  asked: AskedWindow,
  defaultFormat: string,
  { limits: { resultRows: limitRows }, outputs }: Pick<ReplicaContext, 'limits' | 'outputs'>,
): Pick<QueryRequest, 'dataFormat' | 'skip' | 'limit'> {
  const format = jsonLayoutOf(asked.dataFormat ?? defaultFormat)
  if (format === undefined) {
    const candidates = [defaultFormat, ...outputs.names.filter((name) => name !== defaultFormat)]
    throw new NodeError('InvalidParameter', `dataFormat is '${asked.dataFormat}'.`, { candidates })
  }
  readFileOptions(asked, { name: format.name, choices: [] })
  const limit = Number(asked.limit ?? Math.min(usualRows, limitRows))
  if (limit > limitRows) {
    throw new NodeError('InvalidParameter', `limit is ${limit}; at most ${limitRows} rows are answered at once.`, {
      limit: { name: 'resultRows', value: limitRows, unit: 'rows' },
      hint: 'Page with skip and limit.',
    })
  }
  return { dataFormat: format.name, skip: Number(asked.skip ?? 0), limit }
}

/** Undefined where none is named. Throws NodeError `InvalidParameter`. */
export function readSchemaFormat(text: string | null | undefined): SchemaFormat | undefined {
  if (text === undefined || text === null) return undefined
  const format = schemaFormatOf(text)
  if (format !== undefined) return format
  throw new NodeError('InvalidParameter', `schemaFormat is '${text}'.`, { candidates: schemaFormats })
}

export function registerVerify(app: FastifyInstance, context: ReplicaContext): void {
  app.get('/verify', () => ({ about: 'POST a saved answer here, and it is checked.', page: '/assets/verify.html' }))
  app.post('/verify', { config: { right: 'read', runs: true, reads: 'proof' } }, async (request, reply) => {
    const proof = (request.body ?? undefined) as ReadProof | undefined // the content type parser read it
    if (proof === undefined) throw new NodeError('InvalidRequest', 'The request has no body.')
    const deps = {
      ...context.replica,
      catalog: context.catalog,
      work: context.work,
      trustedSigners: context.trustedSigners,
      signers: context.signers,
    }
    return reply.send(await verifyProof(deps, proof, callerOf(context, request, reply)))
  })
}
