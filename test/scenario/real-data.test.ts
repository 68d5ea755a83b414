// Data that others made, through a node of its own process: in over HTTP, joined, proven, verified; the node is killed in
// the middle of its work and started again; every acknowledged record is there exactly once and the old proof holds.
// The oracle for every number is DuckDB over the raw file.

import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type Call, send } from '../helpers/live-node.ts'
import { type ServedNode, runCommand, serveNode } from '../helpers/run-node.ts'
import { demoFile, sample } from '../helpers/samples.ts'

/** Where a file is raw, for the oracle. */
const raw = (name: string): string => join(folder, name)

let folder: string
let node: ServedNode
let token: string
let proof: Answer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofstream-real-'))
  for (const name of ['seattle-weather.csv', 'penguins.json', 'flights-20k.json'])
    await writeFile(raw(name), sample(name))
  await writeFile(raw('airports.csv'), demoFile('airports.csv'))
  await writeFile(raw('flights-2k.json'), JSON.stringify((await records('flights-20k.json')).slice(0, 2000)))
  node = await serveNode(join(folder, 'data'))
  token = (await readFile(join(folder, 'data', 'token'), 'utf8')).trim()
})
afterAll(async () => {
  await node.end('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

const call = (path: string, asked: Call = {}): Promise<Answer> =>
  send(node.url, path, { ...asked, headers: { authorization: `Bearer ${token}`, ...asked.headers } })

const ingest = (
  alias: string,
  type: string,
  body: Uint8Array | string,
  more: Readonly<Record<string, string>> = {},
  query = '',
): Promise<Answer> =>
  call(`/${alias}/ingest?create=true${query}`, {
    method: 'POST',
    headers: { 'content-type': type, prefer: 'wait=30', ...more },
    body,
  })

const postJson = (path: string, body: string | Uint8Array): Promise<Answer> =>
  call(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
const query = (sql: string, more: object = {}): Promise<Answer> =>
  postJson('/query', JSON.stringify({ query: sql, ...more }))
const verify = (body: Uint8Array): Promise<Answer> => postJson('/verify', body)

/** Rows of a statement over the raw files, numbers as numbers. */
async function oracle(sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const rows = (await connection.runAndReadAll(sql)).getRowsJS()
  connection.closeSync()
  return rows.map((row) => row.map((value) => (typeof value === 'bigint' ? Number(value) : value)))
}

const records = (name: string): Promise<Record<string, unknown>[]> =>
  readFile(raw(name), 'utf8').then((text) => JSON.parse(text) as Record<string, unknown>[])

const flightsByState =
  'select a.state as state, count(*) as flights, sum(f.delay) as delay, max(f.distance) as far ' +
  'from "real/flights" f join "real/airports" a on f.origin = a.iata group by a.state'

describe('real data', () => {
  it('comes in as CSV, JSON and NDJSON', async () => {
    const flights = await records('flights-2k.json')
    const answers = await Promise.all([
      ingest('real/weather', 'text/csv', await readFile(raw('seattle-weather.csv'))),
      ingest('real/airports', 'text/csv', await readFile(raw('airports.csv'))),
      ingest('real/penguins', 'application/json', await readFile(raw('penguins.json'))),
      ingest(
        'real/flights',
        'application/x-ndjson',
        flights.map((flight) => JSON.stringify(flight)).join('\n'),
        {},
        '&eventTime=received',
      ),
    ])
    expect(answers.map((answer) => [answer.status, answer.at('status')])).toEqual(answers.map(() => [200, 'committed']))
    expect(answers.map((answer) => answer.at('records.committed'))).toEqual([1461, 3376, 344, 2000])
  })

  it('says what it is', async () => {
    const schema = await call('/real/weather/metadata?include=schema,seed')
    const fields = schema.at('output.schema.fields') as { name: string }[]
    expect(fields.map((field) => field.name)).toEqual([
      'offset',
      'op',
      'system_time',
      'date',
      'precipitation',
      'temp_max',
      'temp_min',
      'wind',
      'weather',
    ])
    const tail = await call('/real/weather/tail?limit=1')
    expect(tail.at('data.0')).toMatchObject({
      offset: 1460,
      date: '2015-12-31',
      precipitation: 0,
      temp_max: 5.6,
      weather: 'sun',
    })
  })

  it('adds up as it does in the raw file', async () => {
    // Its column `date` is the event time.
    const days = (column: string): string =>
      `select weather, count(*) as days, max(temp_max) as warmest, min(temp_min) as coldest, count(distinct ${column}) as dates`
    const ours = await query(`${days('date')} from "real/weather" group by weather order by weather`)
    expect(ours.at('output.data')).toEqual(
      await oracle(`${days('date')} from '${raw('seattle-weather.csv')}' group by weather order by weather`),
    )

    const penguins =
      'select "Species" as species, "Sex" as sex, count(*) as n, sum("Body Mass (g)") as mass, max("Beak Length (mm)") as longest'
    const ourPenguins = await query(`${penguins} from "real/penguins" group by all order by all`)
    expect(ourPenguins.at('output.data')).toEqual(
      await oracle(`${penguins} from '${raw('penguins.json')}' group by all order by all`),
    )
  })

  it('joins two datasets as the raw files do', async () => {
    const ours = await query(`${flightsByState} order by flights desc, state`)
    const theirs = flightsByState
      .replace('"real/flights"', `'${raw('flights-2k.json')}'`)
      .replace('"real/airports"', `'${raw('airports.csv')}'`)
    expect(ours.at('output.data')).toEqual(await oracle(`${theirs} order by flights desc, state`))
  })
})

describe('a proof over real data', () => {
  const file = (name: string): string => join(folder, name)

  it('is verified by running it again, and offline', async () => {
    proof = await query(flightsByState, { include: ['Proof'] })
    expect(proof.status).toBe(200)
    expect(proof.at('input.datasets')).toHaveLength(2)
    await writeFile(file('proof.json'), proof.bytes)
    const again = await verify(proof.bytes)
    expect(again.json).toMatchObject({ ok: true, signer: { did: node.did, relation: 'self' } })
    const offline = await runCommand(['verify', file('proof.json'), '--offline'])
    expect({ code: offline.code, stderr: offline.stderr }).toMatchObject({ code: 0 })
  })

  it('that is tampered with is told by both', async () => {
    await writeFile(file('tampered.json'), proof.text.replace('"CA",', '"ca",'))
    const body = await readFile(file('tampered.json'))
    const answer = await verify(body)
    expect([answer.status, answer.at('error.kind')]).toEqual([400, 'InvalidRequest::OutputHash'])
    const offline = await runCommand(['verify', file('tampered.json'), '--offline'])
    expect(offline.code).toBe(10)
    expect(`${offline.stdout}${offline.stderr}`).toContain('OutputHash')
  })

  it('is checked with openssl alone: the bytes of a member have the hash that was signed', () => {
    const from = proof.text.indexOf('"output":') + '"output":'.length
    const to = proof.text.indexOf(',"proof":')
    const run = spawnSync('openssl', ['dgst', '-sha3-256', '-r'], {
      input: proof.text.slice(from, to),
      encoding: 'utf8',
    })
    expect(`f1620${run.stdout.split(' ')[0]}`).toBe(proof.at('commitment.outputHash'))
  })
})

describe('a node that is killed in the middle of ingest', () => {
  const batchRows = 100
  const bodies: string[] = []
  const acknowledged = new Set<number>()

  /** Sends batch `index`; true when the node acknowledged it. */
  async function post(index: number): Promise<boolean> {
    try {
      const headers = { 'idempotency-key': `batch-${index}`, prefer: 'respond-async' }
      const answer = await ingest(
        'real/many-flights',
        'application/x-ndjson',
        bodies[index] ?? '',
        headers,
        '&eventTime=received',
      )
      return answer.status === 200 || answer.status === 202
    } catch {
      return false
    }
  }

  /** Four producers share the batches that are not acknowledged; `stop` ends them early. */
  async function produce(stop: () => boolean): Promise<void> {
    const open = bodies.map((_, index) => index).filter((index) => !acknowledged.has(index))
    const producer = async (): Promise<void> => {
      for (let index = open.shift(); index !== undefined && !stop(); index = open.shift()) {
        if (await post(index)) acknowledged.add(index)
      }
    }
    await Promise.all([producer(), producer(), producer(), producer()])
  }

  const rowsByBatch = async (): Promise<Map<number, number>> => {
    const counts = await query(
      'select batch, count(*), count(distinct row_in_batch) from "real/many-flights" group by batch',
      { limit: 10_000 },
    )
    const rows = (counts.at('output.data') ?? []) as [number, number, number][]
    for (const [, all, distinct] of rows) expect(all).toBe(distinct)
    return new Map(rows.map(([batch, all]) => [batch, all]))
  }

  it('has every acknowledged record exactly once when it runs again', async () => {
    const flights = await records('flights-20k.json')
    for (let start = 0; start < flights.length; start += batchRows) {
      const batch = start / batchRows
      const rows = flights.slice(start, start + batchRows)
      bodies.push(rows.map((flight, row) => JSON.stringify({ ...flight, batch, row_in_batch: row })).join('\n'))
    }
    expect(await post(0)).toBe(true)
    acknowledged.add(0)
    let killed: Promise<unknown> | undefined
    await produce(() => {
      if (killed === undefined && acknowledged.size >= bodies.length / 3) killed = node.end('SIGKILL')
      return killed !== undefined
    })
    await killed
    expect(acknowledged.size).toBeLessThan(bodies.length)

    node = await serveNode(join(folder, 'data'))
    await expect
      .poll(
        async () => {
          const found = await rowsByBatch()
          return [...acknowledged].filter((batch) => found.get(batch) !== batchRows)
        },
        { interval: 200 },
      )
      .toEqual([])

    // Who was not answered sends again under the same key.
    await produce(() => false)
    expect(acknowledged.size).toBe(bodies.length)
    await expect
      .poll(async () => [...(await rowsByBatch()).values()].reduce((sum, rows) => sum + rows, 0), {
        timeout: 20_000,
        interval: 200,
      })
      .toBe(flights.length)
    const sums = 'select count(*), sum(delay), sum(distance), count(distinct origin)'
    const ours = await query(`${sums} from "real/many-flights"`)
    expect(ours.at('output.data')).toEqual(await oracle(`${sums} from '${raw('flights-20k.json')}'`))
  })

  it('still vouches for what it signed before', async () => {
    const again = await verify(proof.bytes)
    expect(again.at('ok')).toBe(true)
    expect((await query(flightsByState, { include: ['Proof'] })).text).toBe(proof.text)
  })

  it('leaves a store in which everything re-hashes and links', async () => {
    await node.end('SIGTERM')
    const fsck = await runCommand(['fsck', join(folder, 'data')])
    expect({ code: fsck.code, stderr: fsck.stderr }).toMatchObject({ code: 0 })
  })
})
