// `query` and `tail`: rows of a node, in the form that was asked for; `query --proof` keeps the signed answer.

import { writeFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { defined } from '../../libraries/base/collections.ts'
import { type JsonObject, type JsonValue, parseJson } from '../../index.ts'
import { extentText } from '../../libraries/proof/verify.ts'
import { type Answer, datasetPath, type NodeClient, openClient } from '../client.ts'
import type { Args, CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { itemsAt, memberAt, numberAt, objectOf, textAt } from '../../libraries/base/json/members.ts'
import { printRows, type Rows } from '../output.ts'
import { save } from '../save.ts'
import { print } from '../terminal.ts'
import { targetOf } from './export.ts'
import { follow } from './follow.ts'

export interface QueryOptions {
  readonly limit?: number
  readonly skip?: number
  /** Values for parameters: `name=text`, `name:=json`. */
  readonly param?: readonly string[]
  /** Every row, as they come. */
  readonly all?: boolean
  /** File for the answer with its proof; `-`: stdout, in place of rows that no file takes. */
  readonly proof?: string
}

/** Runs one statement; `-` reads it from stdin. */
export async function query(context: CommandContext, [sqlOrDash = '']: Args, options: QueryOptions): Promise<number> {
  const sql = sqlOrDash === '-' ? (await buffer(process.stdin)).toString('utf8') : sqlOrDash
  const { limit, skip } = options
  const asked = { query: sql, parameters: parametersOf(options.param), limit, skip }
  if (options.all === true || context.file !== undefined) return await saveQuery(context, asked, options)
  const include = options.proof === undefined ? ['Schema'] : ['Input', 'Proof', 'Schema']
  const client = await openClient(context)
  const answer = await client.call({
    method: 'POST',
    path: '/query',
    sql,
    json: objectOf({ ...asked, dataFormat: 'JsonAoa', include }),
  })
  if (options.proof !== undefined && answer.headers['answer-stability'] === 'pinned')
    note('this answer is pinned: other blocks with the same rows, or another engine, may give another one')
  if (options.proof === '-') print(answer.bytes)
  else {
    if (options.proof !== undefined) await saveProof(options.proof, answer)
    printRows(context.form, rowsOf(memberAt(answer.json(), 'output')))
  }
  noteCut(answer, memberAt(answer.json(), 'output'), '--limit and --skip show others')
  return exitCodes.done
}

/** All rows, or those of `--limit`, to a file or stdout while they come; with `--proof` the signed answer beside the file. */
async function saveQuery(
  context: CommandContext,
  asked: { readonly query: string; readonly limit: number | undefined } & Parameters<typeof objectOf>[0],
  { proof, all, limit }: QueryOptions,
): Promise<number> {
  if (all === true && (limit !== undefined || (proof !== undefined && context.file === undefined))) {
    const other = limit === undefined ? '--proof' : '--limit'
    const hint = limit === undefined ? { hint: 'Name a file for the rows: -o rows.parquet --proof proof.json.' } : {}
    throw new CommandFailure(exitCodes.usage, `--all and ${other} do not go together.`, hint)
  }
  const target = targetOf(context)
  const client = await openClient(context)
  const signed = proof === undefined ? undefined : await signedAnswer(client, asked)
  const datasets = memberAt(signed?.json(), 'input', 'datasets')
  const json = objectOf({ ...asked, dataFormat: target.form.dataFormat, datasets })
  const { headers } = await save(client, { method: 'POST', path: '/query', sql: asked.query, json }, target)
  if (headers['result-truncated'] === 'true') note(`cut by limit ${limit ?? ''}: --limit and --skip show others`)
  if (signed !== undefined) {
    if (proof === '-') print(signed.bytes)
    else await saveProof(proof ?? '', signed)
  }
  return exitCodes.done
}

/** The answer with its proof, of all rows where no limit is given. Throws CommandFailure where it cannot hold them. */
export async function signedAnswer(
  client: NodeClient,
  asked: { readonly query: string; readonly limit: number | undefined } & Parameters<typeof objectOf>[0],
): Promise<Answer> {
  const most = asked.limit ?? numberAt((await client.call({ path: '/limits' })).json(), 'limits', 'resultRows', 'value')
  const include = ['Input', 'Proof', 'Schema']
  const json = objectOf({ ...asked, limit: most, dataFormat: 'JsonAoa', include })
  const answer = await client.call({ method: 'POST', path: '/query', sql: asked.query, json })
  const isCut = memberAt(answer.json(), 'output', 'truncated') === true
  if (!isCut || asked.limit !== undefined) return answer
  throw new CommandFailure(
    exitCodes.refused,
    `There are more rows than a signed answer holds, which is ${most ?? ''}.`,
    { hint: 'Ask for fewer with --limit, or for the file without --proof.' },
  )
}

/** The bytes as the node sent them: they are what the hashes are of. */
async function saveProof(file: string, answer: Answer): Promise<void> {
  try {
    await writeFile(file, answer.bytes)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new CommandFailure(exitCodes.environment, `The proof cannot be written to ${file}: ${reason}`, { cause })
  }
  note(`proof saved to ${file}; check it with proofstream verify ${file}`)
}

export interface TailOptions {
  readonly limit?: number
  readonly skip?: number
  /** Hash of a block. */
  readonly at?: string
  readonly follow?: boolean
}

/** The newest rows of a dataset; those that come, too, where they are followed. */
export async function tail(context: CommandContext, [dataset = '']: Args, options: TailOptions): Promise<number> {
  if (options.follow === true) return await follow(context, dataset, options.limit ?? 0)
  const path = `${datasetPath(dataset)}/tail`
  const client = await openClient(context)
  const text = (value: number | undefined): string | undefined => (value === undefined ? undefined : String(value))
  const { limit, skip, at } = options
  const window = { limit: text(limit), skip: text(skip), at }
  if (context.file !== undefined) {
    const { headers } = await save(
      client,
      { path, query: { ...window, dataFormat: context.file.form.dataFormat } },
      context.file,
    )
    if (headers['result-truncated'] === 'true') note(`cut by limit ${limit ?? ''}: --limit and --skip show older ones`)
    return exitCodes.done
  }
  const answer = await client.call({ path, query: { ...window, dataFormat: 'JsonAoa', schemaFormat: 'ArrowJson' } })
  printRows(context.form, rowsOf(answer.json()))
  noteCut(answer, answer.json(), '--limit and --skip show older ones')
  return exitCodes.done
}

/** Rows of `{data: [[…]], schema: {fields: [{name}]}}`. */
function rowsOf(output: JsonValue | undefined): Rows {
  const columns = itemsAt(output, 'schema', 'fields').map((field) => textAt(field, 'name') ?? '')
  return { columns, rows: itemsAt(output, 'data').map((row) => (Array.isArray(row) ? row : [])) }
}

/** `100 rows, cut by limit 100`: where rows were left out, as many came as the limit allows. */
function noteCut({ headers }: Answer, output: JsonValue | undefined, hint: string): void {
  if (memberAt(output, 'truncated') !== true && headers['result-truncated'] !== 'true') return
  const rows = itemsAt(output, 'data').length
  note(`${extentText({ rows, limit: rows, skip: 0, extent: 'cut' })}: ${hint}`)
}

/** The member `parameters` of `--param city=Oslo --param n:=3`: text behind `=`, JSON behind `:=`. Throws CommandFailure (usage). */
function parametersOf(texts: readonly string[] | undefined): JsonValue | undefined {
  if (texts === undefined || texts.length === 0) return undefined
  const members: JsonObject = new Map()
  for (const text of texts) {
    const [, name = '', sign = '', value = ''] = /^\$?([^=:]+)(:?=)([\s\S]*)$/.exec(text) ?? []
    if (name === '') throw usage(`'${text}' is not a parameter.`)
    if (members.has(name)) throw usage(`The parameter ${name} is given twice.`)
    members.set(name, sign === '=' ? value : jsonOf(name, value))
  }
  const isList = [...members.keys()].every((name) => /^[1-9]\d*$/.test(name) && Number(name) <= members.size)
  if (!isList) return members
  return [...members].sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value)
}

function jsonOf(name: string, text: string): JsonValue {
  try {
    return parseJson(text)
  } catch (cause) {
    throw usage(`The value of ${name} is not JSON: ${text.slice(0, 100)}`, cause)
  }
}

function usage(message: string, cause?: unknown): CommandFailure {
  return new CommandFailure(exitCodes.usage, message, {
    hint: 'Write --param city=Oslo for a text, --param n:=3 for a number, true, false or null.',
    ...defined({ cause }),
  })
}
