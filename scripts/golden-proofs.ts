// Makes the golden proofs of the dialect of today, once: a node over fresh datasets signs an answer to each statement of
// scripts/golden/ with a key that nobody keeps. What is there already is never made again: later functions get proofs behind it, over the
// same datasets.
// Usage: node scripts/golden-proofs.ts [FOLDER, by default that of the dialect in test/fixtures/proofs]

import { cp, mkdir, appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dialect } from '../src/node/engine/messages.ts'
import { goldenFolder, goldenProofs } from '../test/helpers/golden-proofs.ts'
import { serveNode } from '../test/helpers/run-node.ts'
import { blockFreeStatements, exactStatements, pinnedStatements } from '../test/node/engine/statement-corpus.ts'
import { functionLines } from './golden/functions.ts'
import { type GoldenDataset, goldenDatasets } from './golden/rows.ts'
import { type GoldenRequest, requests, statementLines } from './golden/statements.ts'

/** Asks the node, as its admin. */
type Ask = (path: string, method: string, body: string, mediaType?: string) => Promise<Response>

/** What is known of a dataset: its id, and its head after each batch. */
interface Made {
  readonly id: string
  readonly heads: readonly string[]
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')

/** A line of functions.ts as a statement. */
function statementOf(line: string): string {
  if (/^(?:select|with|from|values)\b/.test(line)) return line
  if (line.includes(' from golden.')) return `select ${line}`
  return `select ${line.replace(/( where .*)?$/, ' from golden.mild$1')}`
}

/** A statement of the corpus over the datasets of these proofs. */
function ofCorpus(statement: string): string {
  return statement.replace(
    /\b(from|join) (t|u)\b( (?:as )?[abv]\b)?/g,
    (_, word: string, name: string, alias = ` ${name}`) => `${word} golden.${name}${alias}`,
  )
}

/** Statements in turns of the data formats and schema formats. A union has a word in one of those alone. */
function inTurns(statements: readonly string[], limit: number): GoldenRequest[] {
  const formats = ['JsonAoa', 'JsonSoa', 'JsonAoa', 'JsonAos']
  const schemas = ['OdfJson', 'ArrowJson', 'OdfJson', 'ParquetJson', 'OdfJson', 'Parquet', 'OdfYaml']
  return statements.map((query, at) => ({
    query,
    dataFormat: formats[at % formats.length] ?? 'JsonAoa',
    schemaFormat: schemas[at % schemas.length] ?? 'ArrowJson',
    limit,
  }))
}

async function make(ask: Ask, { name, fields, batches }: GoldenDataset): Promise<Made> {
  const path = `/golden/${name}`
  if (fields.length > 0) await asked(ask(path, 'PUT', JSON.stringify({ schema: { fields } })))
  const heads: string[] = []
  for (const { body, mediaType, more = '' } of batches) {
    const answer = await asked(ask(`${path}/ingest${more}`, 'POST', body, mediaType))
    const { status } = JSON.parse(answer)
    if (status !== 'committed') throw new Error(`a batch of ${name} is ${status}`)
    heads.push(await asked(ask(`${path}/refs/head`, 'GET', '')))
  }
  const { output } = JSON.parse(await asked(ask(`${path}/metadata`, 'GET', '')))
  return { id: output.seed.datasetId, heads }
}

/** The text of an answer that has to be a good one. */
async function asked(answer: Promise<Response>): Promise<string> {
  const response = await answer
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 2000)}`)
  return text
}

/** The answer with its proof, or why there is none. */
async function prove(
  ask: Ask,
  request: GoldenRequest,
  made: ReadonlyMap<string, Made>,
): Promise<{ proof: string } | { refusal: string }> {
  const { query, parameters, pinned, byId = '', ...more } = request
  const { id, heads } = made.get(pinned?.name ?? byId) ?? { id: '', heads: [] }
  const datasets = pinned && [{ id, alias: `golden/${pinned.name}`, blockHash: heads[pinned.blocks - 1] }]
  const sent = { query: query.replace('$id', id || '$id'), ...more, ...(datasets && { datasets }) }
  const send = async (over: object): Promise<Response> => {
    const body = JSON.stringify({ ...sent, ...over, include: ['Input', 'Proof', 'Schema'] })
    return await ask('/query', 'POST', parameters ? body.replace(/}$/, `,"parameters":${parameters}}`) : body)
  }
  // Two columns of one name have no objects, and some types no word in some formats of schemas.
  let refusal = ''
  for (const over of [{}, { dataFormat: 'JsonAoa' }, { dataFormat: 'JsonAoa', schemaFormat: 'ArrowJson' }]) {
    const response = await send(over)
    const text = await response.text()
    if (response.ok) return { proof: text.trimEnd() }
    refusal ||= text
  }
  const { error } = JSON.parse(refusal)
  return { refusal: `${error.kind}: ${error.message}` }
}

async function main(): Promise<void> {
  const folder = process.argv[2] ?? goldenFolder(dialect)
  const known = existsSync(folder) ? goldenProofs(dialect).map(({ query }) => query) : undefined
  const data = await mkdtemp(join(tmpdir(), 'proofstream-golden-'))
  if (known !== undefined) await cp(join(folder, 'store'), join(data, 'store'), { recursive: true })
  const node = await serveNode(data)
  const token = readFile(join(data, 'token'), 'utf8').then((text) => text.trim())
  const ask: Ask = async (path, method, body, mediaType = 'application/json') =>
    await fetch(`${node.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${await token}`, 'content-type': mediaType, prefer: 'wait=30' },
      ...(method !== 'GET' && { body }),
    })
  const proofs = new Map<string, string>()
  const refused: string[] = []
  try {
    const made = new Map<string, Made>()
    for (const dataset of known === undefined ? goldenDatasets : []) made.set(dataset.name, await make(ask, dataset))
    const calls = inTurns(linesOf(functionLines).map(statementOf), 100)
    const own = [...calls, ...inTurns(linesOf(statementLines), 20)]
    const corpus = inTurns([...exactStatements, ...blockFreeStatements, ...pinnedStatements].map(ofCorpus), 8)
    const later = known && calls.filter(({ query }) => !known.includes(query))
    for (const request of later ?? [...requests, ...own, ...corpus]) {
      const answer = await prove(ask, request, made)
      if ('proof' in answer) proofs.set(JSON.stringify(JSON.parse(answer.proof).commitment), answer.proof)
      else if (corpus.includes(request)) refused.push(`${request.query}\n    ${answer.refusal}`)
      else throw new Error(`no proof: ${request.query}\n${answer.refusal}`)
    }
  } finally {
    await node.end('SIGTERM')
  }
  await mkdir(folder, { recursive: true })
  await appendFile(join(folder, 'proofs.ndjson'), [...proofs.values()].map((proof) => `${proof}\n`).join(''))
  for (const part of known === undefined ? ['datasets', 'names'] : [])
    await cp(join(data, 'store', part), join(folder, 'store', part), { recursive: true })
  await rm(data, { recursive: true })
  process.stdout.write(`${refused.map((text) => `no proof: ${text}\n`).join('')}${proofs.size} proofs in ${folder}\n`)
}

await main()
