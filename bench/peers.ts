// A node beside what else could keep the same rows, in turns within one run: the bodies of bulk.ts by one post that creates
// the dataset, beside DuckDB's COPY into Parquet and ClickHouse's INSERT, each with one thread; durable one-row posts beside
// PostgreSQL. A peer that the machine does not have is left out, and that is said. `--save` draws docs/images/bulk-rate.svg.

import { rmSync, statSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { bulkRows, csv, duckCopy, type Kind, ndjson, upload, writeBody } from './bulk.ts'
import { clickHouseInsert, missingClickHouse } from './clickhouse.ts'
import { fail, makeDataDir, peakMiB, rawPost, residentMiB, runLoad, startBenchNode, treeMicros } from './machine.ts'
import { type Measure, median, timeMs } from './measure.ts'
import { type BarGroup, barPicture } from './picture.ts'
import { missingPostgres, type PostgresLoad, startPostgres } from './postgres-server.ts'

const rounds = 3
const restMs = 60_000
const picture = new URL('../docs/images/bulk-rate.svg', import.meta.url)
const rowBody = '{"device":"d-17","temp":21.5,"k":12345,"at":"2026-03-01T10:00:00Z"}\n'
const bulkBars = [
  { kind: ndjson, mostCpu: 2.3 },
  { kind: csv, mostCpu: 2.2 },
]
const [mostWallOfDuck, mostWallOfClickHouse] = [1.7, 1.6]

export async function measurePeers(): Promise<Measure[]> {
  // As bin/proofstream.js begins a node: what an earlier one compiled is there.
  process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../.cache', import.meta.url))
  return [...(await measureBulkPeers()), ...(await measurePostgres())]
}

function sayMissing(peer: string, missing: string): void {
  console.error(`${peer.toUpperCase()} WAS NOT MEASURED: ${missing} not found.`)
}

interface Work {
  readonly seconds: number
  readonly cpu: number
}
interface OwnWork extends Work {
  readonly peak: number
  readonly rested?: number
}
interface Round {
  readonly own: OwnWork
  readonly duck: Work
  readonly house?: Work
}

/** One body into a dataset that it makes, by a node that has just started, until it is in a block. */
async function ownWork(kind: Kind, body: string, rests: boolean): Promise<OwnWork> {
  // Above what it takes by default, from 2,100,000 rows on.
  const node = await startBenchNode({ 'limit-body-bytes': Math.max(256 * 2 ** 20, statSync(body).size) })
  try {
    const before = treeMicros(node.pid)
    const seconds = (await timeMs(() => upload(node, body, kind.mediaType, '?create=true'))) / 1000
    const cpu = (treeMicros(node.pid) - before) / 1e6
    const peak = peakMiB(node.pid)
    if (rests) await sleep(restMs)
    const rested = rests ? { rested: residentMiB(node.pid) } : {}
    const counted = JSON.stringify(await node.query('select count(*) as n from "acme/bulk"'))
    if (!counted.includes(String(bulkRows))) fail('count', counted)
    return { seconds, cpu, peak, ...rested }
  } finally {
    await node.remove()
  }
}

async function measureBulkPeers(): Promise<Measure[]> {
  const missing = missingClickHouse()
  if (missing !== undefined) sayMissing('ClickHouse', missing)
  const directory = makeDataDir()
  const measures: Measure[] = []
  const drawn: BarGroup[] = []
  for (const { kind, mostCpu } of bulkBars) {
    const body = join(directory, 'body')
    await writeBody(body, kind.line, kind.head)
    const turns: Round[] = []
    for (let round = 0; round < rounds; round++) {
      const duck = duckCopy(kind, body, false)
      const house = missing === undefined ? { house: clickHouseInsert(kind, body) } : {}
      // A minute of waiting once.
      turns.push({ duck, ...house, own: await ownWork(kind, body, kind === ndjson && round === rounds - 1) })
    }
    measures.push(...bulkMeasures(kind, mostCpu, turns))
    drawn.push(...groupsOf(kind, turns))
  }
  rmSync(directory, { recursive: true })
  if (process.argv.includes('--save')) draw(drawn)
  return measures
}

const medianOf = (turns: readonly Round[], what: (turn: Round) => number | undefined): number =>
  median(turns.map((turn) => what(turn) ?? Number.NaN))

function bulkMeasures(kind: Kind, mostCpu: number, turns: readonly Round[]): Measure[] {
  const name = `${bulkRows.toLocaleString('en')} ${kind.title} rows`
  const of = (what: (turn: Round) => number | undefined): number => medianOf(turns, what)
  const houses: Measure[] = [
    { name: `${name}, ClickHouse`, value: of(({ house }) => house?.seconds), unit: 's' },
    { name: `${name}, ClickHouse, CPU`, value: of(({ house }) => house?.cpu), unit: 's' },
    {
      name: `${name} / ClickHouse, by wall`,
      value: of(({ own, house }) => own.seconds / (house?.seconds ?? Number.NaN)),
      unit: '×',
      bar: { most: mostWallOfClickHouse },
    },
    {
      name: `${name} / ClickHouse, by CPU`,
      value: of(({ own, house }) => own.cpu / (house?.cpu ?? Number.NaN)),
      unit: '×',
    },
  ]
  const rested = turns.findLast(({ own }) => own.rested !== undefined)?.own.rested
  return [
    { name: `${name}, created and in a block`, value: of(({ own }) => own.seconds), unit: 's' },
    { name: `${name}, created and in a block, CPU`, value: of(({ own }) => own.cpu), unit: 's' },
    { name: `${name}, DuckDB`, value: of(({ duck }) => duck.seconds), unit: 's' },
    { name: `${name}, DuckDB, CPU`, value: of(({ duck }) => duck.cpu), unit: 's' },
    {
      name: `${name} / DuckDB, by CPU`,
      value: of(({ own, duck }) => own.cpu / duck.cpu),
      unit: '×',
      bar: { most: mostCpu },
    },
    {
      name: `${name} / DuckDB, by wall`,
      value: of(({ own, duck }) => own.seconds / duck.seconds),
      unit: '×',
      bar: { most: mostWallOfDuck },
    },
    ...(turns.some(({ house }) => house !== undefined) ? houses : []),
    { name: `${name}, peak memory`, value: of(({ own }) => own.peak), unit: 'MiB', bar: { most: 640 } },
    ...(rested === undefined
      ? []
      : [{ name: `${name}, memory a minute after`, value: rested, unit: 'MiB', bar: { most: 320 } }]),
  ]
}

function groupsOf(kind: Kind, turns: readonly Round[]): BarGroup[] {
  const bars = (key: keyof Work): BarGroup['bars'] =>
    (
      [
        ['Proofstream', ({ own }) => own[key]],
        ['DuckDB', ({ duck }) => duck[key]],
        ['ClickHouse', ({ house }) => house?.[key]],
      ] satisfies [string, (turn: Round) => number | undefined][]
    )
      .map(([label, what]) => ({ label, value: bulkRows / medianOf(turns, what) }))
      .filter(({ value }) => value > 0)
  return [
    { title: `${kind.title}, by CPU: rows in one second of a core`, bars: bars('cpu') },
    { title: `${kind.title}, by wall: rows in one second`, bars: bars('seconds') },
  ]
}

function draw(groups: readonly BarGroup[]): void {
  const machine = `${cpus()[0]?.model ?? 'unknown'} × ${cpus().length}, load ${Math.round(loadavg()[0] ?? 0)}`
  const subtitles = [
    `${bulkRows.toLocaleString('en')} rows in one body, thousands of rows a second: longer is better. ${machine}.`,
    'Proofstream syncs its log and hashes all columns for proofs; the others write the rows.',
  ]
  writeFileSync(picture, barPicture('How fast one large body is stored', subtitles, groups, 'k rows/s'))
}

interface PostgresCase {
  readonly connections: number
  readonly leastRate: number
  readonly mostP50?: number
}
const postgresCases: readonly PostgresCase[] = [
  { connections: 64, leastRate: 0.8 },
  { connections: 1, leastRate: 0.5, mostP50: 2 },
]
const loadSeconds = 3

/** Nothing, after a loud line, where PostgreSQL cannot run. */
async function measurePostgres(): Promise<Measure[]> {
  const missing = missingPostgres()
  if (missing !== undefined) {
    sayMissing('PostgreSQL', missing)
    return []
  }
  const node = await startBenchNode({}, { pinned: true })
  const postgres = await startPostgres()
  await node.post('acme/t', rowBody, { query: '?create=true' })
  const ownLoad = async (connections: number): Promise<PostgresLoad> => {
    const parts = { token: node.token, prefer: 'respond-async', body: rowBody }
    const order = { ...rawPost(node.url, '/acme/t/ingest', parts), connections }
    const { perSecond, p50Ms, microsPerAnswer, statuses } = await runLoad(node.pid, order)
    if (Object.keys(statuses).some((one) => one !== '202')) fail('posting', JSON.stringify(statuses))
    return { perSecond, p50Ms, microsPerRow: microsPerAnswer }
  }
  const measures: Measure[] = []
  try {
    for (const one of postgresCases) {
      const turns: { own: PostgresLoad; their: PostgresLoad }[] = []
      for (let round = 0; round <= rounds; round++) {
        const pair = { own: await ownLoad(one.connections), their: postgres.load(one.connections, loadSeconds) }
        // The first round warms up.
        if (round > 0) turns.push(pair)
      }
      measures.push(...postgresMeasures(one, turns))
    }
  } finally {
    await postgres.stop()
    await node.remove()
  }
  return measures
}

function postgresMeasures(
  { connections, leastRate, mostP50 }: PostgresCase,
  turns: readonly { readonly own: PostgresLoad; readonly their: PostgresLoad }[],
): Measure[] {
  const name = `durable rows, ${connections} connection${connections === 1 ? '' : 's'}`
  const of = (who: 'own' | 'their', key: keyof PostgresLoad): number => median(turns.map((turn) => turn[who][key]))
  const ratio = (key: keyof PostgresLoad): number => median(turns.map(({ own, their }) => own[key] / their[key]))
  const p50Bar = mostP50 === undefined ? {} : { bar: { most: mostP50 } }
  return [
    { name, value: of('own', 'perSecond'), unit: 'rows/s' },
    { name: `${name}, PostgreSQL`, value: of('their', 'perSecond'), unit: 'rows/s' },
    { name: `${name} / PostgreSQL, by rate`, value: ratio('perSecond'), unit: '×', bar: { least: leastRate } },
    { name: `${name}, CPU`, value: of('own', 'microsPerRow'), unit: 'µs/row' },
    { name: `${name}, CPU, PostgreSQL`, value: of('their', 'microsPerRow'), unit: 'µs/row' },
    { name: `${name} / PostgreSQL, by CPU`, value: ratio('microsPerRow'), unit: '×' },
    { name: `${name}, p50`, value: of('own', 'p50Ms'), unit: 'ms' },
    { name: `${name}, p50, PostgreSQL`, value: of('their', 'p50Ms'), unit: 'ms' },
    { name: `${name} / PostgreSQL, p50`, value: ratio('p50Ms'), unit: '×', ...p50Bar },
  ]
}
