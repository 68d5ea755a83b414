// `dataset create | list | show | set | log | delete | restore`.

import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { JsonNumber, type JsonObject, type JsonValue, parseJson } from '../../index.ts'
import { datasetPath, openClient } from '../client.ts'
import type { Args, CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { columnTypes, itemsAt, memberAt, objectOf, textAt } from '../../libraries/base/json/members.ts'
import { pagesOf } from '../pages.ts'
import { printObject, printObjects } from '../output.ts'
import { ask, isSomebodyThere } from '../question.ts'
import { settingsOf } from './ingest-request.ts'

export interface CreateOptions {
  /** File with a schema in ODF JSON (`-`: stdin). */
  readonly schema?: string
  /** `name:type`, such as `temp:Float64?`. */
  readonly column?: readonly string[]
  readonly description?: string
  readonly keyword?: readonly string[]
  readonly private?: boolean
  /** A duration, such as `5s`. */
  readonly freshness?: string
  readonly proofs?: 'rows' | 'batches'
  readonly ledger?: 'true' | 'false'
}

export async function createDataset(
  context: CommandContext,
  [name = '']: Args,
  options: CreateOptions,
): Promise<number> {
  const path = datasetPath(name)
  const body = await creationBody(options)
  const client = await openClient(context)
  const answer = await client.call({ method: 'PUT', path, json: body })
  note(answer.status === 201 ? `created dataset ${name}` : `dataset ${name} was there already, just like this`)
  const made = answer.json()
  if (made instanceof Map) printObject(context.form, made)
  return exitCodes.done
}

async function creationBody(options: CreateOptions): Promise<JsonObject> {
  const { schema, column, description, keyword, freshness, proofs, ledger } = options
  if (schema !== undefined && column !== undefined) {
    throw new CommandFailure(exitCodes.usage, 'A schema comes from --schema or from --column, not from both.')
  }
  const info = objectOf({ description, keywords: keyword === undefined ? undefined : [...keyword] })
  return objectOf({
    schema: schema === undefined ? columnsSchema(column) : await jsonFile('schema', schema),
    info: info.size === 0 ? undefined : info,
    visibility: options.private === true ? 'private' : undefined,
    freshness,
    proofs: proofs === 'rows' ? proofs : undefined,
    ledger: ledger === undefined ? undefined : ledger === 'true',
  })
}

function columnsSchema(columns: readonly string[] | undefined): JsonValue | undefined {
  if (columns === undefined) return undefined
  const fields = columns.map((text) => {
    // The type has no colon: everything before the last one is the name.
    const colon = text.lastIndexOf(':')
    if (colon < 1) {
      throw new CommandFailure(exitCodes.usage, `'${text}' is not a column.`, {
        hint: 'A column is name:type, for instance --column temp:Float64?',
      })
    }
    return objectOf({ name: text.slice(0, colon), type: text.slice(colon + 1) })
  })
  return objectOf({ fields })
}

async function jsonFile(what: string, file: string): Promise<JsonValue> {
  const bytes = file === '-' ? await buffer(process.stdin) : await readFile(file)
  try {
    return parseJson(bytes)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new CommandFailure(exitCodes.refused, `The ${what} in ${file} is not JSON: ${reason}.`, { cause })
  }
}

export interface SetOptions extends Pick<CreateOptions, 'description' | 'keyword' | 'freshness' | 'proofs' | 'ledger'> {
  /** The new one. */
  readonly name?: string
  readonly visibility?: string
  /** File with a license in JSON (`-`: stdin). */
  readonly license?: string
  readonly attach?: readonly string[]
  /** Rules of ingest, `name=value`. */
  readonly set?: readonly string[]
}

/** Changes what is given of a dataset. */
export async function setDataset(context: CommandContext, [name = '']: Args, options: SetOptions): Promise<number> {
  const { name: alias, visibility, freshness, description, keyword, license, attach, proofs, ledger, set } = options
  const path = datasetPath(name)
  const client = await openClient(context)
  const isInfo = description !== undefined || keyword !== undefined
  // The block holds all of it: what is not given stays.
  const held = isInfo ? (await client.call({ path: `${path}/metadata`, query: { include: 'info' } })).json() : null
  const info = objectOf({
    description: description ?? memberAt(held, 'output', 'info', 'description'),
    keywords: keyword === undefined ? memberAt(held, 'output', 'info', 'keywords') : [...keyword],
  })
  const files = (attach ?? []).map(async (file) => objectOf({ path: file, content: await readFile(file, 'utf8') }))
  const items = await Promise.all(files)
  const json = objectOf({
    alias,
    visibility,
    freshness: freshness === 'default' ? null : freshness,
    proofs: proofs === 'batches' ? null : proofs,
    ledger: ledger === undefined ? undefined : ledger === 'true',
    ingest: set === undefined ? undefined : withRules((await client.call({ path })).json(), set),
    info: isInfo ? info : undefined,
    license: license === undefined ? undefined : await jsonFile('license', license),
    attachments: attach === undefined ? undefined : objectOf({ kind: 'Embedded', items }),
  })
  if (json.size === 0) {
    throw new CommandFailure(exitCodes.usage, 'There is nothing to change.', {
      hint: 'For instance: --visibility private. proofstream dataset set --help lists what can be set.',
    })
  }
  const changed = (await client.call({ method: 'PATCH', path, json })).json()
  const isRenamed = alias === undefined ? '' : `: it is ${textAt(changed, 'alias')} now`
  note(`changed dataset ${name}${isRenamed}`)
  if (changed instanceof Map) printObject(context.form, changed)
  return exitCodes.done
}

/** The rules that the node tells of a dataset, with others; none is null. Throws CommandFailure (usage). */
function withRules(told: JsonValue, set: readonly string[]): JsonValue {
  const held = memberAt(told, 'ingest')
  const rules = new Map(held instanceof Map ? held : [])
  for (const [name, [value = '', ...more]] of settingsOf(set)) {
    const isSwitch = name === 'flatten' || name === 'trim'
    if (value === '' || (isSwitch && value === 'false')) rules.delete(name)
    else if (isSwitch && value === 'true') rules.set(name, true)
    else rules.set(name, more.length === 0 ? value : [value, ...more])
  }
  return rules.size === 0 ? null : rules
}

export interface ListOptions {
  readonly account?: string
  readonly deleted?: boolean
}

/** Every dataset that the caller may read. */
export async function listDatasets(context: CommandContext, options: ListOptions): Promise<number> {
  const client = await openClient(context)
  if (options.deleted === true) {
    const all = itemsAt((await client.call({ path: '/datasets/deleted' })).json(), 'datasets')
    const ofAccount = `${options.account?.toLowerCase() ?? ''}/`
    const isAsked = (one: JsonValue): boolean => (textAt(one, 'alias') ?? '').toLowerCase().startsWith(ofAccount)
    const deleted = options.account === undefined ? all : all.filter(isAsked)
    printObjects(context.form, ['alias', 'deletedAt', 'removedAfter', 'id'], deleted)
    return exitCodes.done
  }
  const datasets: JsonValue[] = []
  const list = { path: '/datasets', query: { account: options.account } }
  for await (const page of pagesOf(client, list, { items: 'datasets', cursor: 'after' })) datasets.push(...page)
  // A line of a terminal holds no hash and no DID beside the rest: `dataset show` tells them.
  const columns = ['alias', 'rows', 'lastCommit', 'visibility']
  printObjects(context.form, context.form === 'table' ? columns : [...columns, 'head', 'id'], datasets)
  return exitCodes.done
}

/** What a dataset says of itself, and where it stands. */
export async function showDataset(context: CommandContext, [name = '']: Args): Promise<number> {
  const path = datasetPath(name)
  const client = await openClient(context)
  const query = { include: 'attachments,info,license,refs,schema,seed,vocab', schemaFormat: 'ArrowJson' }
  const output = memberAt((await client.call({ path: `${path}/metadata`, query })).json(), 'output')
  const id = textAt(output, 'seed', 'datasetId')
  const listed = id === undefined ? null : (await client.call({ path: `/datasets/${encodeURIComponent(id)}` })).json()
  const fields = itemsAt(output, 'schema', 'fields')
  printObject(
    context.form,
    objectOf({
      ...membersOf(listed, 'alias'),
      id,
      ...membersOf(listed, 'rows', 'head', 'lastCommit', 'visibility', 'freshness', 'ledger', 'ingest', 'proofs'),
      ...membersOf(output, 'info', 'license', 'attachments', 'vocab'),
      // A person reads names and types; a program gets the schema as the node gave it.
      schema: context.form === 'table' ? columnTypes(fields) : memberAt(output, 'schema'),
    }),
  )
  return exitCodes.done
}

function membersOf(value: JsonValue | undefined, ...names: readonly string[]): Record<string, JsonValue | undefined> {
  return Object.fromEntries(names.map((name) => [name, memberAt(value, name)]))
}

export interface LogOptions {
  readonly limit?: number
  /** Hash of the block before which to begin. */
  readonly before?: string
}

/** The chain, newest block first. */
export async function logDataset(context: CommandContext, [name = '']: Args, options: LogOptions): Promise<number> {
  const path = `${datasetPath(name)}/blocks`
  const client = await openClient(context)
  const limit = options.limit === undefined ? undefined : String(options.limit)
  const page = (await client.call({ path, query: { limit, before: options.before } })).json()
  const blocks = itemsAt(page, 'blocks')
  if (context.form === 'json' || context.form === 'ndjson') printObjects(context.form, [], blocks)
  else {
    const rows = blocks.map((block) =>
      objectOf({
        sequence: memberAt(block, 'sequence'),
        hash: memberAt(block, 'hash'),
        time: memberAt(block, 'systemTime'),
        event: memberAt(block, 'event', 'kind'),
        offsets: offsetsText(memberAt(block, 'event', 'newData', 'offsetInterval')),
      }),
    )
    printObjects(context.form, ['sequence', 'time', 'event', 'offsets', 'hash'], rows)
  }
  const next = textAt(page, 'next')
  if (next !== undefined) note(`There are older blocks: --before ${next}`)
  return exitCodes.done
}

function offsetsText(interval: JsonValue | undefined): string | undefined {
  const ends = ['start', 'end'].map((name) => memberAt(interval, name))
  const tokens = ends.flatMap((end) => (end instanceof JsonNumber ? [end.token] : []))
  return tokens.length === 2 ? tokens.join('–') : undefined
}

export interface DeleteOptions {
  readonly yes?: boolean
  /** A duration, such as `24h`. */
  readonly grace?: string
  readonly ifMatch?: string
}

/** Deletes a dataset, after its name was typed once more on a terminal. */
export async function deleteDataset(
  context: CommandContext,
  [name = '']: Args,
  { yes = false, grace, ifMatch = '*' }: DeleteOptions,
): Promise<number> {
  const path = datasetPath(name)
  if (!yes) await confirm(name)
  const client = await openClient(context)
  const call = { method: 'DELETE', path, query: { grace }, headers: { 'if-match': ifMatch } }
  const deleted = (await client.call(call)).json()
  const id = textAt(deleted, 'id') ?? ''
  note(`deleted dataset ${name}; until ${textAt(deleted, 'removedAfter')}: proofstream dataset restore ${id}`)
  if (deleted instanceof Map) printObject(context.form, deleted)
  return exitCodes.done
}

async function confirm(name: string): Promise<void> {
  if (!isSomebodyThere()) {
    throw new CommandFailure(exitCodes.usage, 'Nobody is here to ask.', { hint: `Add --yes to delete ${name}.` })
  }
  if ((await ask(`Type ${name} to delete it: `)) === name) return
  throw new CommandFailure(exitCodes.usage, 'The name does not match. Nothing was deleted.')
}

export interface RestoreOptions {
  /** Another name than it had. */
  readonly as?: string
}

/** Takes a deletion back. */
export async function restoreDataset(
  context: CommandContext,
  [id = '']: Args,
  { as: alias }: RestoreOptions,
): Promise<number> {
  const client = await openClient(context)
  const path = `/datasets/${encodeURIComponent(id)}/restore`
  const restored = (await client.call({ method: 'POST', path, json: objectOf({ alias }) })).json()
  note(`restored dataset ${textAt(restored, 'alias')}`)
  if (restored instanceof Map) printObject(context.form, restored)
  return exitCodes.done
}
