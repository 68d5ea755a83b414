// One store in four layouts, a node over each: loose slices, packs alone, merged files, a copy that follows. And sessions of
// the engine with four threads over the loose slices and over the merged files.

import { cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, vi } from 'vitest'
import { openSession } from '../../../src/node/engine/duckdb/open.ts'
import type { DuckDbSession } from '../../../src/node/engine/duckdb/session.ts'
import { SentLists } from '../../../src/node/engine/process/file-lists.ts'
import { concatBytes } from '../../../src/libraries/base/bytes.ts'
import { engineVersion } from '../../../src/node/engine/messages.ts'
import { listOf } from '../engine/helpers.ts'
import { type Replica, startReplica } from '../../features/follow/support.ts'
import { type LiveNode, startLiveNode } from '../../helpers/live-node.ts'
import { runCommand } from '../../helpers/run-node.ts'
import { until } from '../../helpers/until.ts'
import { type Dataset, datasets, postAll, posts, schemaFor } from './layout-data.ts'

const cut = { waitAgeMs: 1, openAgeMs: 1 }
const limits = { keptAnswerBytes: 0, concurrentQueries: 1 }
const loose = { cut, limits: { ...limits, mergedFileBytes: 0 } }

export type Files = ReadonlyMap<Dataset, readonly string[]>

export interface Layouts {
  readonly nodes: ReadonlyMap<string, LiveNode | Replica>
  /** Files of the datasets, loose and merged. */
  readonly files: ReadonlyMap<string, Files>
  stop(): Promise<void>
}

/** Makes all of them in an empty directory. */
export async function makeLayouts(dir: string): Promise<Layouts> {
  const [first, packed, merged] = ['first', 'packed', 'merged'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ]
  const origin = await startLiveNode({ data: first }, loose)
  await postAll(origin, join(dir, 'body'))
  await origin.node.stop()
  for (const copy of [packed, merged]) await cp(first, copy, { recursive: true })
  expect((await runCommand(['fsck', packed, '--pack', '--sweep'])).stdout).toContain('"packs":1,"swept":')

  const nodes = new Map<string, LiveNode | Replica>()
  nodes.set('loose', await startLiveNode({ data: first }, loose))
  nodes.set('packed', await startLiveNode({ data: packed }, loose))
  const merging = await startLiveNode({ data: merged }, { cut, limits })
  nodes.set('merged', merging)
  await until('merged files', async () => {
    const asked = { include: ['Proof'], explain: true }
    const answer = await merging.query('select count(x) from "acme/t"', asked)
    return String(answer.headers['query-scan']).includes('merged-files-read=1') || undefined
  })
  const url = merging.node.url
  const copy = await startReplica(url, { 'follow-token': merging.adminToken }, join(dir, 'copy'), loose)
  nodes.set('followed', copy)
  for (const dataset of datasets) {
    await until('the copy', async () => (await copy.head(dataset)) === (await merging.head(dataset)) || undefined)
  }
  const files = new Map([
    ['loose', await filesOf(first)],
    ['merged', await filesOf(merged)],
  ])
  return {
    nodes,
    files,
    stop: async () => {
      await copy.stop()
      for (const name of ['loose', 'packed', 'merged']) await (nodes.get(name) as LiveNode | undefined)?.node.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** The files that a node reads, in the order of offsets: merged ones, and the slices behind them. */
async function filesOf(data: string): Promise<Files> {
  const reader = await (await DuckDBInstance.create(':memory:')).connect()
  const found = new Map<Dataset, readonly string[]>()
  const store = join(data, 'store', 'datasets')
  for (const chain of await readdir(store)) {
    const slices = await pathsIn(join(store, chain, 'data'))
    const dataset = datasets.find((one) => posts[one] === slices.length)
    if (dataset === undefined) throw new Error(`${slices.length} slices are of no dataset`)
    const merged = dataset === 'acme/t' ? await pathsIn(join(data, 'cache', 'merged')) : []
    const list = [...merged, ...slices].map((path) => `'${path}'`).join(', ')
    const rows = await reader.run(
      `SELECT filename, min("offset") AS first, max("offset") AS last
      FROM read_parquet([${list}], filename = true) GROUP BY filename ORDER BY first, last DESC`,
    )
    const paths: string[] = []
    let end = -1
    for (const [path, , last] of await rows.getRows()) {
      if (Number(last) > end) paths.push(String(path))
      end = Math.max(end, Number(last))
    }
    found.set(dataset, paths)
  }
  reader.closeSync()
  return found
}

async function pathsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** Answers statements as for a proof, with this many threads. */
export interface Threads {
  /** JSON text of the rows. Throws NodeError. */
  ask(sql: string): Promise<string>
}

/** A session of the engine with `threads` threads over the files. */
export async function openThreads(dir: string, files: Files, threads: string): Promise<Threads> {
  const create = DuckDBInstance.create.bind(DuckDBInstance)
  const spy = vi.spyOn(DuckDBInstance, 'create')
  spy.mockImplementation(async (path, given) => await create(path, { ...given, threads }))
  const bytes = 1024 * 1024 * 1024
  const settings = {
    engineVersion,
    memoryBytes: bytes,
    killBytes: 4 * bytes,
    resultBytes: bytes,
    exportBytes: bytes,
    dataRoots: [dir],
  }
  const session = await openSession(settings)
  expect(spy).toHaveBeenCalledOnce()
  spy.mockRestore()
  const sent = new SentLists()
  return { ask: async (sql) => await askSession(session, sql, { files, sent }) }
}

async function askSession(
  session: DuckDbSession,
  sql: string,
  { files, sent }: { readonly files: Files; readonly sent: SentLists },
): Promise<string> {
  const analysis = await session.analyze(sql)
  const tables = analysis.tables.map(({ parts, text }) => {
    const dataset = datasets.find((one) => one === parts.join('/'))
    if (dataset === undefined) throw new Error(`no dataset ${text}`)
    return { parts, dataset, files: listOf(files.get(dataset) ?? []), schema: schemaFor(dataset) }
  })
  const { pieces } = await session.run({
    analysis,
    ...sent.plain(tables),
    reproducible: true,
    threads: 1,
    dataFormat: 'JsonAoa',
    wantSchema: false,
    keyOrder: 'canonical',
    ascii: true,
    skip: 0,
    limit: 100,
  })
  return Buffer.from(concatBytes([...pieces])).toString()
}
