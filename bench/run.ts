// Runs the benchmarks, prints a table, and compares with the stored baseline. Bars are ratios inside one run and times
// of what a user waits for; rates are for reading. `--save` makes this run the baseline, `--only=PART[,PART]` runs parts.
// Usage: npm run bench -- [--save] [--only=start,idle,single,durable,million,blocks,ledger,ledger-posts,stages,
// geojson,shapefile,outputs,long,fairness,hostile,unread,large,bulk,keys,catalog,follow,features,reuse,statements,newest,cores,fleet,live,stream,pages,pgwire]. Exits with 1 when a bar is crossed.

import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { measureBucket } from './bucket.ts'
import { measureBulk } from './bulk.ts'
import { measureCatalog } from './catalog.ts'
import { measureCores } from './cores.ts'
import { measureFairness } from './fairness.ts'
import { measureFeatures } from './features.ts'
import { measureFleet } from './fleet.ts'
import { measureFollow } from './follow.ts'
import { measureGeoJson } from './geojson.ts'
import { measureHostileJson } from './hostile-json.ts'
import { measureDurablePosts, measureMillionRows, measureSingleRows, measureStart } from './http.ts'
import { measureIdle } from './idle.ts'
import { measureKafka } from './kafka.ts'
import { measureKeys } from './keys.ts'
import { measureLargeBody } from './large-body.ts'
import { measureLive } from './live.ts'
import { measureLongRecords } from './long-records.ts'
import { canPin } from './machine.ts'
import { measureLedgerPosts } from './ledger-posts.ts'
import { measureLedger } from './ledger.ts'
import { measureManyBlocks } from './many-blocks.ts'
import { keepsBar, type Measure } from './measure.ts'
import { measureMqtt } from './mqtt.ts'
import { measureOutputs } from './outputs.ts'
import { measureNewest } from './newest.ts'
import { measureOverload } from './overload.ts'
import { measurePages } from './pages.ts'
import { measurePeers } from './peers.ts'
import { measurePostgresDoor } from './postgres-door.ts'
import { measureQuestDb } from './questdb.ts'
import { measureReuse } from './reuse.ts'
import { measureShapefile } from './shapefile.ts'
import { measureStages } from './stages.ts'
import { measureStatements } from './statements.ts'
import { measureStream } from './stream.ts'
import { measureUnreadAnswers } from './unread-answers.ts'
import { measureYear } from './year-http.ts'

interface Baseline {
  readonly machine: string
  /** Processes that wanted to run beside the benchmark, on average over the minute before it. */
  readonly load: number
  readonly measures: readonly { readonly name: string; readonly unit: string; readonly value: number }[]
}

const baselineFile = new URL('./baseline.json', import.meta.url)
const parts: Readonly<Record<string, () => Promise<Measure[]>>> = {
  stages: measureStages,
  geojson: measureGeoJson,
  shapefile: measureShapefile,
  outputs: measureOutputs,
  start: measureStart,
  idle: measureIdle,
  single: measureSingleRows,
  durable: measureDurablePosts,
  million: measureMillionRows,
  blocks: measureManyBlocks,
  ledger: measureLedger,
  'ledger-posts': measureLedgerPosts,
  overload: measureOverload,
  long: measureLongRecords,
  fairness: measureFairness,
  hostile: measureHostileJson,
  unread: measureUnreadAnswers,
  large: measureLargeBody,
  bulk: measureBulk,
  keys: measureKeys,
  catalog: measureCatalog,
  follow: measureFollow,
  features: measureFeatures,
  reuse: measureReuse,
  statements: measureStatements,
  pages: measurePages,
  pgwire: measurePostgresDoor,
  newest: measureNewest,
  cores: measureCores,
  fleet: measureFleet,
  live: measureLive,
  stream: measureStream,
}
/** Parts that need more than Node.js, or much time. */
const furtherParts: typeof parts = {
  bucket: measureBucket,
  kafka: measureKafka,
  mqtt: measureMqtt,
  peers: measurePeers,
  questdb: measureQuestDb,
  year: measureYear,
}

function readBaseline(): Baseline | undefined {
  try {
    return JSON.parse(readFileSync(baselineFile, 'utf8')) as Baseline // written below
  } catch {
    return undefined
  }
}

function shown(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en')
  return value >= 100 ? value.toFixed(0) : value.toFixed(2)
}

function barText({ bar, unit }: Measure): string {
  if (bar === undefined) return ''
  return 'most' in bar ? `≤ ${shown(bar.most)} ${unit}` : `≥ ${shown(bar.least)} ${unit}`
}

function print(measure: Measure, baseline: Baseline | undefined): void {
  const before = baseline?.measures.find(({ name, unit }) => name === measure.name && unit === measure.unit)
  const change = before === undefined ? '' : `${(measure.value / before.value).toFixed(2)} of ${shown(before.value)}`
  const verdict = measure.bar === undefined ? '' : keepsBar(measure) ? 'ok' : 'CROSSED'
  console.log(
    [
      measure.name.padEnd(44),
      shown(measure.value).padStart(12),
      measure.unit.padEnd(9),
      barText(measure).padEnd(14),
      verdict.padEnd(8),
      change,
    ].join(' '),
  )
}

const only = process.argv.find((arg) => arg.startsWith('--only='))?.slice('--only='.length)
const chosen = only === undefined ? Object.keys(parts) : only.split(',')
const machine = `${cpus()[0]?.model ?? 'unknown'} × ${cpus().length}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.versions.node}`
const baseline = readBaseline()
const load = Math.round((loadavg()[0] ?? 0) * 10) / 10
console.log(`${machine}, load ${load}${canPin ? '' : ' (not pinned: no taskset)'}`)
if (baseline !== undefined) console.log(`baseline: ${baseline.machine}, load ${baseline.load}`)
console.log('measure'.padEnd(44), 'value'.padStart(12), 'unit'.padEnd(9), 'bar'.padEnd(14), ''.padEnd(8), 'baseline')
const all = { ...parts, ...furtherParts }
const unknown = chosen.find((name) => all[name] === undefined)
if (unknown !== undefined) throw new Error(`no part ${unknown}: ${Object.keys(all).join(', ')}`)
const measures: Measure[] = []
let failed = false
for (const name of chosen) {
  try {
    const measured = (await all[name]?.()) ?? []
    for (const one of measured) print(one, baseline)
    measures.push(...measured)
  } catch (error) {
    // What other parts have measured, and will, is not lost.
    console.log(`${name.padEnd(44)} FAILED`, error)
    failed = true
  }
}
// Further parts are no part of the baseline: a run of them alone leaves it as it is.
if (process.argv.includes('--save') && chosen.some((name) => parts[name] !== undefined)) {
  const saved: Baseline = { machine, load, measures: measures.map(({ name, unit, value }) => ({ name, unit, value })) }
  writeFileSync(baselineFile, `${JSON.stringify(saved, null, 2)}\n`)
}
process.exitCode = !failed && measures.every(keepsBar) ? 0 : 1
