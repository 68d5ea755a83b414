// `query` and `tail`: rows of a node, in the form that was asked for; `query --proof` keeps the signed answer.

import { writeFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import type { JsonValue } from '../../index.ts'
import { extentText } from '../../verify.ts'
import { type Answer, datasetPath, openClient } from '../client.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { itemsAt, memberAt, numberOf, objectOf, textAt } from '../json-values.ts'
import { type Rows, printRows } from '../output.ts'

export interface QueryOptions {
  readonly limit?: number
  readonly skip?: number
  /** File for the answer with its proof; `-`: stdout, in place of the rows. */
  readonly proof?: string
}

/** Runs one statement; `-` reads it from stdin. */
export async function query(context: CommandContext, sqlOrDash: string, options: QueryOptions): Promise<number> {
  const sql = sqlOrDash === '-' ? (await buffer(process.stdin)).toString('utf8') : sqlOrDash
  const client = await openClient(context)
  const answer = await client.call({
    method: 'POST',
    path: '/query',
    sql,
    json: objectOf({
      query: sql,
      dataFormat: 'JsonAoa',
      include: options.proof === undefined ? ['Schema'] : ['Input', 'Proof', 'Schema'],
      limit: options.limit === undefined ? undefined : numberOf(options.limit),
      skip: options.skip === undefined ? undefined : numberOf(options.skip),
    }),
  })
  if (options.proof !== undefined && answer.headers['answer-stability'] === 'pinned')
    note('this answer holds for these very blocks: the same rows in other blocks may give another one')
  if (options.proof === '-') process.stdout.write(answer.bytes)
  else {
    if (options.proof !== undefined) await saveProof(options.proof, answer)
    printRows(context.form, rowsOf(memberAt(answer.json(), 'output')))
  }
  noteCut(answer, memberAt(answer.json(), 'output'), '--limit and --skip show others')
  return exitCodes.done
}

/** The bytes as the node sent them: they are what the hashes are of. */
async function saveProof(file: string, answer: Answer): Promise<void> {
  try {
    await writeFile(file, answer.bytes)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new CommandFailure(exitCodes.environment, `The proof cannot be written to ${file}: ${reason}`, { cause })
  }
  note(`proof saved to ${file}; check it with: proofstream verify ${file}`)
}

export interface TailOptions {
  readonly limit?: number
  readonly skip?: number
  /** Hash of a block. */
  readonly at?: string
}

/** The newest rows of a dataset. */
export async function tail(context: CommandContext, dataset: string, options: TailOptions): Promise<number> {
  const path = `${datasetPath(dataset)}/tail`
  const client = await openClient(context)
  const text = (value: number | undefined): string | undefined => (value === undefined ? undefined : String(value))
  const { limit, skip, at } = options
  const answer = await client.call({
    path,
    query: { limit: text(limit), skip: text(skip), at, dataFormat: 'JsonAoa', schemaFormat: 'ArrowJson' },
  })
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
