// The read-only catalog for lake engines: every dataset that the caller may read as a table, its metadata, and the files that
// it names. Their paths are s3://iceberg/…, the same at every address, and GET /iceberg/files/… answers what S3 clients ask
// for such a path at this node: what `config` of a table tells them. They sign requests; what counts is the token that goes
// with the signature (docs/decisions/iceberg.md).
// Source: https://github.com/apache/iceberg/blob/main/open-api/rest-catalog-open-api.yaml.

import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { can, demand } from '../../node/access/scopes.ts'
import { tokenHash, tokenOf } from '../../node/access/token.ts'
import type { DatasetChain } from '../../node/catalog/dataset-chain.ts'
import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { metadataName } from './table-metadata.ts'
import type { SchemaForm } from './table-schema.ts'
import { toHex } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import type { DataFileBytes } from './lake-files.ts'
import { LakeTables } from './lake-tables.ts'
import { Reader, sequenceAt } from '../../node/answers/pin.ts'
import { mayRead } from '../../node/http/access.ts'
import { isUnchanged, keepForEver } from '../../node/http/answer.ts'
import { hostOf, type ReplicaContext } from '../../node/http/context.ts'
import { icebergProblem } from './problem.ts'
import { addVary } from '../../node/http/origin-rules.ts'
import { sendPart, wantedPart } from '../../node/http/stored-bytes.ts'

const NamespaceParams = Type.Object({
  namespace: Type.String({ maxLength: 300, description: 'An account.' }),
})
const TableParams = Type.Object({
  ...NamespaceParams.properties,
  table: Type.String({
    maxLength: 300,
    description:
      'A dataset of the account; behind @ the sequence or the hash of one of its blocks, as of which it is read.',
  }),
})
const FileParams = Type.Object({
  folder: Type.String({ maxLength: 100, description: 'The id of the dataset without did:odf:.' }),
  file: Type.String({ maxLength: 120, description: 'Name of the file, from the table or one of its files.' }),
})

const FileQuery = Type.Object({
  location: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'URI of the folder that the table will be copied to. Paths of its files begin with it.',
    }),
  ),
})

const idPrefix = 'did:odf:'
/** Between the levels of a namespace. */
const levelEnd = '\u001f'
/** The catalog, and as Trino asks for it, to whom `config` tells this prefix of paths: the same but for types. */
const catalogs = [
  { form: 'exact', root: '/iceberg/v1/namespaces' },
  { form: 'trino', root: '/iceberg/v1/trino/namespaces' },
] as const
/** What this catalog does: clients then refuse the rest by themselves. */
const endpoints = [
  'GET /v1/{prefix}/namespaces',
  'GET /v1/{prefix}/namespaces/{namespace}',
  'HEAD /v1/{prefix}/namespaces/{namespace}',
  'GET /v1/{prefix}/namespaces/{namespace}/tables',
  'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'GET /v1/{prefix}/namespaces/{namespace}/views',
]
/** What clients may tell; nothing of it is kept. */
const measured = { body: Type.Object({}), consumes: ['application/json'] }
/** Slices are read and sent by so much. */
const dataPieceBytes = 1024 * 1024
/** Files of metadata are made in memory and sent from there. */
const pieceBytes = 64 * 1024 * 1024

export function registerIceberg(app: FastifyInstance, context: ReplicaContext): void {
  const tables = new LakeTables(context.objects, context.replica?.files.merging)
  context.metrics.gauge('lake_held_bytes', 'Bytes of what is kept of footers for lake engines.', () => tables.heldBytes)
  const reading: FastifyContextConfig = { right: 'read', looseParameters: true }
  const config = { ...reading, tell: icebergProblem }
  app.get('/iceberg/v1/config', { config }, (request) => {
    const { warehouse } = request.query as { readonly warehouse?: unknown } // any parameters are taken
    return { defaults: {}, overrides: warehouse === 'trino' ? { prefix: 'trino' } : {}, endpoints }
  })
  for (const catalog of catalogs) registerCatalog(app, context, { ...catalog, tables, config })
  const files = { config: { ...reading, isObjectStore: true }, schema: { params: FileParams } }
  app.get('/iceberg/files/:folder/data/:file', files, (request, reply) => sendData(context, tables, request, reply))
  const made = { ...files, schema: { ...files.schema, querystring: FileQuery } }
  app.get('/iceberg/files/:folder/metadata/:file', made, (request, reply) =>
    sendMetadata(context, tables, request, reply),
  )
}

interface LakeCatalog {
  readonly form: SchemaForm
  readonly root: string
  readonly tables: LakeTables
  readonly config: FastifyContextConfig
}

function registerCatalog(
  app: FastifyInstance,
  context: ReplicaContext,
  { form, root, tables, config }: LakeCatalog,
): void {
  // The OpenAPI document has the one; what it says of `config` covers the other.
  const hide = form !== 'exact'
  app.get(root, { config, schema: { hide } }, async (request) => {
    const { parent = '' } = request.query as { readonly parent?: unknown } // any parameters are taken
    const accounts = parent === '' ? await accountsOf(context, request) : []
    return { namespaces: accounts.map(([first]) => [accountOf(first)]) }
  })
  app.get(`${root}/:namespace`, { config, schema: { hide, params: NamespaceParams } }, async (request) => {
    const [first] = await datasetsOf(context, request)
    return { namespace: [accountOf(first)], properties: {} }
  })
  app.get(`${root}/:namespace/tables`, { config, schema: { hide, params: NamespaceParams } }, async (request) => {
    const names = await datasetsOf(context, request)
    const namespace = [accountOf(names[0])]
    return { identifiers: names.map(({ alias }) => ({ namespace, name: alias.slice(alias.indexOf('/') + 1) })) }
  })
  app.get(`${root}/:namespace/views`, { config, schema: { hide, params: NamespaceParams } }, async (request) => {
    await datasetsOf(context, request)
    return { identifiers: [] }
  })
  app.get(`${root}/:namespace/tables/:table`, { config, schema: { hide, params: TableParams } }, (request, reply) =>
    sendTable(context, { tables, form }, request, reply),
  )
  app.post(
    `${root}/:namespace/tables/:table/metrics`,
    { config: { ...config, stream: true, describes: measured }, schema: { hide, params: TableParams } },
    async (request, reply) => {
      await tableOf(context, request)
      return reply.code(204).send()
    },
  )
}

/** Where the files of a dataset lie for S3 clients of this node. */
function locationOf(folder: string): string {
  return `s3://iceberg/files/${folder}`
}

async function sendTable(
  context: ReplicaContext,
  { tables, form }: Pick<LakeCatalog, 'tables' | 'form'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { chain, sequence } = await tableOf(context, request)
  const token = tokenOf(request.headers.authorization)
  addVary(reply, 'Authorization')
  void reply.header('cache-control', token === undefined ? 'no-cache' : 'private, no-cache')
  // What is told of a token holds for that one.
  const owner = token === undefined ? '' : `.${tokenHash(token).slice(0, 16)}`
  const { hash } = chain.blocks.at(sequence) ?? chain.head
  const tag = `${hash}${form === 'exact' ? '' : `.${form}`}${owner}`
  if (isUnchanged(request, reply, tag)) return await reply.code(304).send()
  const location = locationOf(chain.name.id.slice(idPrefix.length))
  return await reply.send({
    'metadata-location': `${location}/metadata/${metadataName({ sequence })}`,
    metadata: tables.table(chain, sequence, { location, isHere: true, form }),
    config: storageOf(context, request, token),
  })
}

/** How S3 clients reach the files of tables: at this node, with the caller's token. */
function storageOf(
  context: ReplicaContext,
  request: FastifyRequest,
  token: string | undefined,
): Readonly<Record<string, string>> {
  return {
    's3.endpoint': hostOf(context, request),
    's3.path-style-access': 'true',
    's3.region': 'us-east-1',
    'client.region': 'us-east-1',
    's3.access-key-id': 'proofstream',
    's3.secret-access-key': 'proofstream',
    ...(token !== undefined && { 's3.session-token': token }),
  }
}

/** What a path may mean: clients split a name at its dots (`a.b.t`), and those of accounts and datasets have dots inside. */
function aliasesOf(levels: readonly string[], dataset: string): string[] {
  const parts = [...levels, dataset]
  return levels.map(
    (_, end) => `${parts.slice(0, parts.length - 1 - end).join('.')}/${parts.slice(-1 - end).join('.')}`,
  )
}

/** The dataset in the path and the block as of which it is asked for. Throws NodeErrors `DatasetNotFound`, `BlockNotFound`. */
async function tableOf(
  context: ReplicaContext,
  request: FastifyRequest,
): Promise<{ readonly chain: DatasetChain; readonly sequence: number }> {
  const { namespace, table } = request.params as { readonly namespace: string; readonly table: string } // TableParams
  const [dataset = '', at] = table.split('@')
  const reader = new Reader(context.catalog, mayRead(request))
  const [first = '', ...others] = aliasesOf(namespace.split(levelEnd), dataset)
  let found = await reader.find(first)
  for (const other of others) found ??= await reader.find(other)
  const chain = found ?? (await reader.need(first))
  if (at === undefined) return { chain, sequence: chain.headSequence }
  const sequence = /^\d{1,9}$/.test(at) ? Number(at) : await sequenceAt(context.catalog, chain, at)
  if (sequence !== undefined && sequence <= chain.headSequence) return { chain, sequence }
  throw new NodeError('BlockNotFound', `The dataset '${chain.name.alias}' has no block '${at.slice(0, 100)}'.`, {
    hint: 'After @ comes the sequence or the hash of a block, from refs/head or blocks.',
  })
}

/** A slice, or a merged file, with the footer for engines, which is another file: its tag is not the slice's. */
async function sendData(
  context: ReplicaContext,
  tables: LakeTables,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { file } = request.params as { readonly file: string } // FileParams validated it
  const name = await nameOfFolder(context, request)
  const found = file.startsWith('merged-')
    ? await mergedOf(context, tables, name, file)
    : await sliceOf(context, tables, name, file)
  const stored = { tag: `${found.hash}.lake`, pieceBytes: dataPieceBytes, ...found }
  keepForEver(reply, context, name)
  void reply.type('application/vnd.apache.parquet')
  if (isUnchanged(request, reply, stored.tag)) return await reply.code(304).send()
  return await sendPart(request, reply, wantedPart(request, reply, stored), stored)
}

async function sliceOf(
  context: ReplicaContext,
  tables: LakeTables,
  name: NameRecord,
  file: string,
): Promise<DataFileBytes & { readonly hash: string }> {
  const text = file.replace(/\.parquet$/, '')
  const there = await context.objects.find(name, { kind: 'data', text, chainOf: () => context.catalog.chainOf(name) })
  const found = await context.objects.check(there)
  return { hash: found.hash, ...(await tables.dataFile(name.id, found)) }
}

async function mergedOf(
  context: ReplicaContext,
  tables: LakeTables,
  name: NameRecord,
  file: string,
): Promise<DataFileBytes & { readonly hash: string }> {
  const chain = await context.catalog.chainOf(name)
  const found = await known(context, chain, () => tables.mergedFile(chain, file))
  if (found !== undefined) return found
  throw new NodeError('ObjectNotFound', `'${name.alias}' has no such merged file at this node.`, {
    hint: 'Read the table anew: it names what the node has.',
  })
}

/** What is found; looked for again where another process may have committed what it is of. */
async function known<T>(
  { catalog }: ReplicaContext,
  chain: DatasetChain,
  find: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const found = await find()
  if (found !== undefined) return found
  await catalog.refresh(chain)
  return await find()
}

async function sendMetadata(
  context: ReplicaContext,
  tables: LakeTables,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { folder, file } = request.params as { readonly folder: string; readonly file: string } // FileParams validated it
  const chain = await context.catalog.chainOf(await nameOfFolder(context, request))
  const { location: elsewhere } = request.query as Static<typeof FileQuery> // FileQuery validated it
  const location = elsewhere ?? locationOf(folder)
  if (!/^[a-z][a-z0-9+.-]*:\/\S*[^\s/]$/i.test(location)) throw noLocation(location)
  const place = { location, isHere: elsewhere === undefined }
  const whole = await known(context, chain, () => tables.file(chain, file, place))
  if (whole === undefined) throw new NodeError('ObjectNotFound', `'${chain.name.alias}' has no such file of metadata.`)
  const stored = {
    tag: toHex(sha256(whole)),
    sizeBytes: whole.length,
    pieceBytes,
    read: async (start: number, end: number) => whole.subarray(start, end),
  }
  void reply.header('cache-control', 'no-cache').type(file.endsWith('.avro') ? 'avro/binary' : 'application/json')
  if (isUnchanged(request, reply, stored.tag)) return await reply.code(304).send()
  return await sendPart(request, reply, wantedPart(request, reply, stored), stored)
}

function noLocation(text: string): NodeError {
  return new NodeError('InvalidParameter', `location is '${text.slice(0, 200)}', which is not a URI of a folder.`, {
    hint: 'Write it like file:///lake/weather or s3://bucket/weather, without a slash at the end.',
  })
}

async function nameOfFolder(context: ReplicaContext, request: FastifyRequest): Promise<NameRecord> {
  const { folder } = request.params as { readonly folder: string } // FileParams validated it
  const name = await context.catalog.nameOfId(idPrefix + folder)
  demand(request.principal, 'read', folder, name)
  return name
}

/** The datasets that the caller may read, by account, each in the order of names. */
async function accountsOf(
  { catalog }: ReplicaContext,
  { principal }: FastifyRequest,
): Promise<(readonly [NameRecord, ...NameRecord[]])[]> {
  const accounts = new Map<string, [NameRecord, ...NameRecord[]]>()
  for (const name of await catalog.names()) {
    if (!can(principal, 'read', name)) continue
    const account = foldAscii(accountOf(name))
    const held = accounts.get(account)
    if (held === undefined) accounts.set(account, [name])
    else held.push(name)
  }
  return [...accounts.values()]
}

function accountOf({ alias }: NameRecord): string {
  return alias.slice(0, alias.indexOf('/'))
}

/** Those of the namespace in the path, at least one. Throws NodeError `DatasetNotFound`. */
async function datasetsOf(
  context: ReplicaContext,
  request: FastifyRequest,
): Promise<readonly [NameRecord, ...NameRecord[]]> {
  const { namespace } = request.params as { readonly namespace: string } // NamespaceParams validated it
  const accounts = await accountsOf(context, request)
  const found = accounts.find(
    ([first]) => foldAscii(accountOf(first)) === foldAscii(namespace.replaceAll(levelEnd, '.')),
  )
  if (found !== undefined) return found
  throw new NodeError('DatasetNotFound', `There is no account '${namespace.slice(0, 100)}' with a dataset.`, {
    hint: 'GET /iceberg/v1/namespaces lists the accounts with datasets that you may read.',
    extra: { type: 'NoSuchNamespaceException' },
  })
}
