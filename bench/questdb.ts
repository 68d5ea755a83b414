// A node beside QuestDB on the same machine, in turns: rows that come one, a hundred or ten thousand to a request, and two
// million at once. A node takes the small ones as NDJSON, and as line protocol in the bytes that QuestDB gets. It answers 202,
// or 204, when rows are on the disk and 200 when they are in a block; QuestDB answers 204 when they are in its write-ahead log, which by
// default no fsync follows (`cairo.commit.mode=nosync`): the ratio to the one that does sync compares like with like, the
// other what users of both will see.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { bulkLine, bulkRows, upload, writeBody } from './bulk.ts'
import type { LoadOrder } from './load.ts'
import { type BenchNode, cpuMicros, fail, makeDataDir, rawPost, runLoad, startBenchNode } from './machine.ts'
import { type Measure, median, timeMs } from './measure.ts'
import { type CommitMode, missingQuestDbTools, startQuestDb } from './questdb-server.ts'

const rounds = 3
const manyConnections = 64
const [warmMs, measureMs] = [1_000, 2_000]
const promise = { nosync: 'not synced', sync: 'synced' } as const

/** Nothing, after a loud line, where no QuestDB can run. */
export async function measureQuestDb(): Promise<Measure[]> {
  const missing = missingQuestDbTools()
  if (missing !== undefined) {
    console.error(`QUESTDB WAS NOT MEASURED: ${missing} not found.`)
    return []
  }
  const small: Measure[] = []
  for (const mode of ['nosync', 'sync'] as const) small.push(...(await measureRequests(mode)))
  return [...small, ...(await measureBulkRows())]
}

interface Case {
  readonly name: string
  readonly rows: number
  readonly connections: number
  /** Of QuestDB's rate, where it does not sync: as NDJSON, and as line protocol. */
  readonly least?: number
  readonly lineLeast?: number
}

const cases: readonly Case[] = [
  { name: 'one-row posts', rows: 1, connections: manyConnections, least: 0.45 },
  { name: 'one-row posts, one connection', rows: 1, connections: 1, least: 0.9 },
  { name: '100-row posts', rows: 100, connections: 8 },
  { name: '10,000-row posts', rows: 10_000, connections: 2, lineLeast: 0.5 },
]

const jsonLine = (row: number): string =>
  `{"device":"d-${row % 100}","temp":21.5,"k":${row},"at":"2026-03-01T10:00:00Z"}\n`
const protocolLine = (row: number): string => `t,device=d-${row % 100} temp=21.5,k=${row}i 1772359200000\n`
/** Without its last timestamp: a body whose lines all have one is its own key, and stored once. */
const unkeyed = (body: string): string => body.replace(/ \d+\n$/, '\n')
const lines = (line: (row: number) => string, rows: number): string =>
  Array.from({ length: rows }, (_, i) => line(i)).join('')

/** Rows per second that are answered, and microseconds of CPU for a row up to its being readable. */
interface Turn {
  readonly rate: number
  readonly cost: number
}

async function measureRequests(mode: CommitMode): Promise<Measure[]> {
  const node = await startBenchNode({}, { pinned: true })
  const questDb = await startQuestDb(mode, { pinned: true })
  await node.post('acme/t', jsonLine(0), { query: '?create=true' })
  await postLine(node)
  const measures: Measure[] = []
  for (const one of cases) {
    const ownTurn = async (): Promise<Turn> => {
      const body = lines(jsonLine, one.rows)
      const order = rawPost(node.url, '/acme/t/ingest', { token: node.token, prefer: 'respond-async', body })
      return turn(node, { ...order, connections: one.connections }, one.rows, '202', async () => {
        // Waits for its block, and so for all before it.
        await node.post('acme/t', jsonLine(0), { prefer: 'wait=30' })
      })
    }
    const lineTurn = async (): Promise<Turn> => {
      const body = unkeyed(lines(protocolLine, one.rows))
      const order = rawPost(node.url, '/api/v2/write?bucket=acme/lines&precision=ms', {
        token: node.token,
        prefer: 'respond-async',
        body,
      })
      return turn(node, { ...order, connections: one.connections }, one.rows, '204', async () => {
        await postLine(node)
      })
    }
    const theirTurn = async (): Promise<Turn> => {
      const order = { ...questDb.write(lines(protocolLine, one.rows)), connections: one.connections }
      return turn(questDb, order, one.rows, '204', () => questDb.readable('t'))
    }
    const turns: { own: Turn; line: Turn; their: Turn }[] = []
    for (let round = 0; round <= rounds; round++) {
      const pair = { own: await ownTurn(), line: await lineTurn(), their: await theirTurn() }
      // The first round warms up.
      if (round > 0) turns.push(pair)
    }
    const of = (who: 'own' | 'line' | 'their', what: keyof Turn): number => median(turns.map((pair) => pair[who][what]))
    const ratio = median(turns.map(({ own, their }) => own.rate / their.rate))
    const lineRatio = median(turns.map(({ line, their }) => line.rate / their.rate))
    const barOf = (least: number | undefined): Pick<Measure, 'bar'> =>
      mode === 'nosync' && least !== undefined ? { bar: { least } } : {}
    measures.push(
      { name: `${one.name}, synced`, value: of('own', 'rate'), unit: 'rows/s' },
      { name: `${one.name}, QuestDB, ${promise[mode]}`, value: of('their', 'rate'), unit: 'rows/s' },
      { name: `${one.name} / QuestDB, ${promise[mode]}`, value: ratio, unit: '×', ...barOf(one.least) },
      { name: `${one.name}, line protocol, synced`, value: of('line', 'rate'), unit: 'rows/s' },
      {
        name: `${one.name}, line protocol / QuestDB, ${promise[mode]}`,
        value: lineRatio,
        unit: '×',
        ...barOf(one.lineLeast),
      },
      { name: `${one.name}, line protocol, CPU`, value: of('line', 'cost'), unit: 'µs/row' },
      { name: `${one.name}, CPU`, value: of('own', 'cost'), unit: 'µs/row' },
      { name: `${one.name}, CPU, QuestDB, ${promise[mode]}`, value: of('their', 'cost'), unit: 'µs/row' },
    )
  }
  await questDb.stop()
  await node.remove()
  return measures
}

/** Waits for its block, and so for all before it. */
function postLine(node: BenchNode): Promise<Response> {
  const headers = { 'content-type': 'text/x-line-protocol', prefer: 'wait=30' }
  const path = '/acme/lines/ingest?create=true&eventTimeUnit=ms'
  return node.call(path, { method: 'POST', headers, body: protocolLine(0) })
}

/** The load, and then what the server still has to do until all of it can be read. */
async function turn(
  server: { readonly pid: number },
  order: LoadOrder,
  rows: number,
  status: string,
  readable: () => Promise<unknown>,
): Promise<Turn> {
  const before = cpuMicros(server.pid)
  const { perSecond, answers, statuses } = await runLoad(server.pid, { ...order, warmMs, measureMs })
  if (Object.keys(statuses).some((one) => one !== status)) fail('posting', JSON.stringify(statuses))
  await readable()
  return { rate: perSecond * rows, cost: (cpuMicros(server.pid) - before) / (answers * rows) }
}

const protocolBulkLine = (row: number): string =>
  `bulk,device=d-${(row * 7919) % 1000},status=ok id=${row}i,temp=${((row * 31) % 40_000) / 1000},humidity=${(row * 17) % 101}i,note="n${row}" ${1_772_000_000_000 + row * 250}\n`

/** The rows of `bulk.ts` until they can be read. QuestDB is warm; the node has just started, as that of a user who loads what he has. */
async function measureBulkRows(): Promise<Measure[]> {
  const directory = makeDataDir()
  const [json, protocol] = [join(directory, 'body.ndjson'), join(directory, 'body.lines')]
  await writeBody(json)
  await writeBody(protocol, protocolBulkLine)
  const questDb = await startQuestDb('nosync', { pinned: false })
  const turns: { own: number; their: number }[] = []
  for (let round = 0; round <= rounds; round++) {
    const their = await timeMs(async () => {
      await questDb.upload(protocol)
      const there = await questDb.readable('bulk')
      if (there !== (round + 1) * bulkRows) fail('QuestDB', `it has ${there} rows`)
    })
    // The first round warms up.
    if (round > 0) turns.push({ own: await ownBulkMs(json), their })
  }
  await questDb.stop()
  rmSync(directory, { recursive: true })
  const of = (who: 'own' | 'their'): number => median(turns.map((one) => one[who])) / 1000
  const ratio = median(turns.map(({ own, their }) => own / their))
  const name = `${bulkRows.toLocaleString('en')} rows at once`
  return [
    { name: `${name}, in a block`, value: of('own'), unit: 's' },
    { name: `${name}, readable in QuestDB, not synced`, value: of('their'), unit: 's' },
    { name: `${name} / QuestDB`, value: ratio, unit: '×', bar: { most: 2.3 } },
  ]
}

async function ownBulkMs(body: string): Promise<number> {
  const node: BenchNode = await startBenchNode()
  // A fraction: the first temperature of the body is none.
  await node.post('acme/bulk', bulkLine(1), { query: '?create=true', prefer: 'wait=30' })
  const ms = await timeMs(() => upload(node, body))
  await node.remove()
  return ms
}
