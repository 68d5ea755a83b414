// The same statements over very many rows, by one replica and by Spark on two executors through the node's catalog: time from
// asking to answer, and CPU of all processes that took part. Makes the data where they are not there yet.
// Needs python3 with pyspark 3.5.7, Java 17 and Maven.
// Run: node bench/scale.ts DIR [BLOCKS of 500,000 rows, 200 by default] [MEMORY of a query of the replica in MiB, 1024]

import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { baseMs } from '../test/node/builder/support.ts'
import { mavenJars } from '../test/helpers/maven-jars.ts'
import { makeScale, rowsPerBlock } from './make-scale.ts'
import { timeMs } from './measure.ts'
import { startNodeProcess } from './node-process.ts'

const [dir = '', count = '200', queryMiB = '1024'] = process.argv.slice(2)
const blocks = Number(count)
const executorMiB = 2048
const queryMs = 1_800_000

const day = (number: number): string => new Date(baseMs + number * 86_400_000).toISOString().slice(0, 19)
/** In the middle of the rows, of which there is one a second. */
const middle = Math.floor((blocks * rowsPerBlock) / 86_400 / 2)
const statements = [
  {
    what: 'groups of all rows: 17',
    runs: 3,
    sql: 'SELECT city, count(*), sum(n), max(event_time) FROM TABLE GROUP BY city',
  },
  {
    what: 'one day',
    runs: 3,
    sql:
      `SELECT count(*), sum(n) FROM TABLE WHERE event_time >= timestamp '${day(middle)}'` +
      ` AND event_time < timestamp '${day(middle + 1)}'`,
  },
  {
    what: 'groups of all rows: as many as rows',
    runs: 1,
    sql: 'SELECT count(*), max(c) FROM (SELECT n, count(*) AS c FROM TABLE GROUP BY n) AS g',
  },
]

interface Outcome {
  readonly rows?: readonly (readonly unknown[])[]
  readonly error?: string
}

/** CPU seconds of a process and of all that it started, those that have ended included. */
function cpuOfTree(root: number): number {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const text = readFileSync(`/proc/${name}/stat`, 'utf8')
        const fields = text
          .slice(text.lastIndexOf(')') + 2)
          .split(' ')
          .map(Number)
        const [, parent = 0] = fields
        return [{ pid: Number(name), parent, ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) }]
      } catch {
        return [] // it has just ended
      }
    })
  const total = (pid: number): number =>
    processes.filter(({ parent }) => parent === pid).reduce((sum, child) => sum + child.ticks + total(child.pid), 0)
  return (total(root) + (processes.find(({ pid }) => pid === root)?.ticks ?? 0)) / 100
}

/** Runs each statement so often and prints the times; CPU is of the processes `pids` and what they started. */
async function measure(
  who: string,
  table: string,
  pids: Readonly<Record<string, number>>,
  ask: (sql: string) => Promise<Outcome>,
): Promise<void> {
  for (const { what, sql, runs } of statements) {
    for (let run = 1; run <= runs; run++) {
      const before = Object.values(pids).map(cpuOfTree)
      let outcome: Outcome = {}
      const ms = await timeMs(async () => {
        outcome = await ask(sql.replaceAll('TABLE', table))
      })
      const cpu = Object.entries(pids).map(
        ([name, pid], at) => `${name} ${(cpuOfTree(pid) - (before[at] ?? 0)).toFixed(1)}`,
      )
      const told = outcome.error ?? JSON.stringify(outcome.rows?.map(String).toSorted()[0])
      console.log(
        `${who.padEnd(8)} ${what.padEnd(36)} run ${run} ${(ms / 1000).toFixed(1).padStart(7)} s  CPU s: ${cpu.join(', ')}  ${told}`,
      )
      if (outcome.error !== undefined) break
    }
  }
}

if (!existsSync(join(dir, 'store')))
  console.log(`made in ${((await timeMs(() => makeScale(dir, 'acme/scale', blocks))) / 1000).toFixed(0)} s`)
const jars = await mavenJars(new URL('../test/features/iceberg/pom.xml', import.meta.url).pathname, 'lake')
const limits = { keptAnswerBytes: 0, queryMemoryBytes: Number(queryMiB) * 2 ** 20 }
const node = await startNodeProcess({ data: dir, 'limit-query-ms': queryMs }, { tuning: { limits } })
await measure('replica', '"acme/scale"', { node: node.pid }, async (query) => {
  const headers = { authorization: `Bearer ${node.token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${node.url}/query`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query, dataFormat: 'JsonAoa' }),
  })
  const body = (await answer.json()) as {
    output?: { data?: unknown[][] }
    title?: string
    detail?: string
    message?: string
  } // of /query
  return answer.ok
    ? { rows: body.output?.data ?? [] }
    : { error: `${answer.status} ${body.message ?? body.detail ?? body.title}` }
})
const env = {
  ...process.env,
  SERVER: node.url,
  TOKEN: node.token,
  EXECUTOR_MIB: String(executorMiB),
  SPARK_JARS: readdirSync(jars)
    .map((jar) => join(jars, jar))
    .join(','),
}
const spark = spawn('python3', [new URL('scale.py', import.meta.url).pathname], {
  env,
  stdio: ['pipe', 'pipe', 'inherit'],
})
const lines = createInterface(spark.stdout)[Symbol.asyncIterator]()
const next = async (): Promise<Outcome> => JSON.parse(String((await lines.next()).value)) as Outcome // what the script prints
console.log(`Spark with ${JSON.stringify(await next())}`)
await measure('Spark', 'lake.acme.scale', { node: node.pid, spark: spark.pid ?? 0 }, async (sql) => {
  spark.stdin.write(`${JSON.stringify({ sql })}\n`)
  return await next()
})
spark.stdin.end()
await node.stop()
