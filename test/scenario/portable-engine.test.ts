// A node, and the command over a bundle, where the native engine is not installed and its portable form is: proofs are run on
// that. What it cannot run is no accusation and takes no longer than a statement may; a lie is one. Every process ends.

import { appendFile, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { knownEngines } from '../../src/node/engine/known-engines.ts'
import { hasBrowserEngine } from '../helpers/browser-engine.ts'
import { type LiveNode, type Answer, send, startLiveNode } from '../helpers/live-node.ts'
import { runProgram, serveNode, type ServedNode } from '../helpers/run-node.ts'
import { until } from '../helpers/until.ts'
import { withoutNative } from '../helpers/without-native.ts'
import { bundleOf, signedByStranger } from '../node/bundle/support.ts'

const simple = 'SELECT city, count(*) AS n FROM "acme/lab" GROUP BY city'
const all = 'SELECT * FROM "acme/lab"'
const own = 'SELECT sum(a) AS total FROM "acme/own"'
const unavailable = 'VerificationInconclusive::EngineUnavailable'
const digest = knownEngines.find(({ version }) => version === '1.5.6')?.portable?.module
const engine = { name: 'duckdb', version: '1.5.6', form: 'portable', digest, dialect: 'SqlDuckDb/1.5.6-3' }
const zoned = `SELECT date_trunc('day', event_time) AS day, count(*) AS n FROM "acme/lab" GROUP BY day`

describe.runIf(hasBrowserEngine)('a node with the portable form of its engine alone', () => {
  let live: LiveNode
  let copy: Awaited<ReturnType<typeof withoutNative>>
  let bare: ServedNode
  let token: string
  const proofs = new Map<string, string>()
  const bundles = new Map<string, string>()

  const proof = (sql: string): string => proofs.get(sql) ?? ''
  const verified = async (body: string, by: string | null = token): Promise<Answer> =>
    await send(bare.url, '/verify', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(by !== null && { authorization: `Bearer ${by}` }) },
      body,
    })
  const lie = (sql: string): string => {
    const { output } = JSON.parse(proof(sql)) as { output: { data: unknown[][] } }
    return signedByStranger(proof(sql), { output: { data: output.data.slice(1) } })
  }

  beforeAll(async () => {
    live = await startLiveNode({ 'anonymous-read': true })
    for (let block = 0; block < 3; block++)
      await live.ingest('acme/lab', [{ city: 'Oslo', n: block }, { city: 'Rome' }], '?create=true&integers=int64')
    await live.ingest('acme/lab', [{ city: 'Bonn', later: true }], '?unknownFields=add')
    await live.call('/acme/own', { method: 'PUT', json: { visibility: 'private' } })
    await live.ingest('acme/own', [{ a: 1 }, { a: 2 }])
    for (const sql of [simple, zoned, all, own]) {
      const answer = await live.query(sql, { include: ['Input', 'Proof', 'Schema'] })
      if (answer.status !== 200) throw new Error(answer.text)
      proofs.set(sql, answer.text)
    }
    for (const sql of [simple, zoned]) bundles.set(sql, await bundleOf(live, proof(sql)))
    bundles.set('lie', await bundleOf(live, lie(simple)))
    copy = await withoutNative({ portable: true })
    token = live.adminToken
    await live.node.stop()
    bare = await serveNode(live.dataDir, ['--anonymous-read', '--limit-query-ms', '5000'], {}, [copy.program])
  })
  afterAll(async () => {
    await bare.end('SIGTERM')
    await live.stop()
    await rm(copy.dir, { recursive: true })
  })

  /** The processes that the node has started. */
  const children = async (): Promise<string[]> => {
    const tasks = await readFile(`/proc/${bare.pid}/task/${bare.pid}/children`, 'utf8')
    return tasks.split(' ').filter((pid) => pid !== '')
  }
  const kindOf = async (body: string, by?: string | null): Promise<unknown> =>
    (await verified(body, by)).at('error.kind')

  test('lists it, and runs proofs on it', async () => {
    const info = await send(bare.url, '/info', { headers: { authorization: `Bearer ${token}` } })
    expect(info.at('engines')).toEqual([{ version: '1.5.6', form: 'portable', digest, default: false }])
    const listed = await runProgram([copy.program, 'engine', 'list', '--data', live.dataDir])
    expect(listed.stdout).toContain(`"form":"portable"`)
    for (const sql of [simple, all]) {
      const told = await verified(proof(sql))
      expect([told.status, told.at('engine'), told.at('answer.extent')]).toEqual([200, engine, 'whole'])
    }
    // Without its output an answer is as good.
    const { output, ...rest } = JSON.parse(proof(simple)) as { output: unknown }
    expect(output).toBeDefined()
    expect((await verified(JSON.stringify(rest))).status).toBe(200)
  })

  test('a lie is one, and a schema or a layout that was not signed so is not verified', async () => {
    const told = await verified(lie(simple))
    expect([told.at('error.kind'), told.text]).toEqual([
      'VerificationFailed::OutputMismatch',
      expect.stringContaining('2 rows were signed, here are 3'),
    ])
    const { output } = JSON.parse(proof(simple)) as { output: { schema: object } }
    const schema = JSON.stringify(output.schema).replace('64', '32')
    expect(schema).not.toBe(JSON.stringify(output.schema))
    expect(await kindOf(signedByStranger(proof(simple), { output: { schema: JSON.parse(schema) } }))).toBe(unavailable)
  })

  test('who may not read a dataset learns nothing of it', async () => {
    expect((await verified(proof(own))).status).toBe(200)
    expect(await kindOf(proof(own), null)).toBe('VerificationFailed::DatasetNotFound')
    expect(await kindOf(lie(own), null)).toBe('VerificationFailed::DatasetNotFound')
  })

  test('what it cannot run, or not in time or memory, is no accusation', async () => {
    const told = await verified(proof(zoned))
    expect([told.at('error.kind'), told.text, told.at('hint')]).toEqual([
      unavailable,
      expect.stringContaining("extension 'icu'"),
      expect.stringContaining('proofstream engine add 1.5.6'),
    ])
    for (const query of [
      'select count(*) as n from range(100000000) a, range(100000000) b',
      'select count(distinct hash(range)) as n from range(1000000000)',
      'select length(string_agg(range::varchar)) as n from range(1000000000)',
      'select 1 as n; drop table "acme/lab"',
      `select count(*) as n from read_text('/etc/hosts')`,
    ])
      expect([query, await kindOf(signedByStranger(proof(simple), { input: { query } }))]).toEqual([query, unavailable])
    expect(await children()).toEqual([])
  })

  test('of many at once some wait and some are told to come back, and no process is left', async () => {
    const answers = await Promise.all(Array.from({ length: 65 }, async () => await verified(proof(simple))))
    const told = answers.map((answer) => (answer.status === 200 ? '200' : answer.refusal))
    expect(new Set(told)).toEqual(new Set(['200', '503 Saturated']))
    expect(told.filter((one) => one === '200').length).toBeGreaterThanOrEqual(18)
    await until('no process is left', async () => (await children()).length === 0 || undefined)
    expect((await verified(proof(simple))).status).toBe(200)
  })

  test('so does the command over a bundle', async () => {
    for (const [bundle, code, text] of [
      [bundles.get(simple), 0, '"form":"portable"'],
      [bundles.get(zoned), 11, unavailable],
      [bundles.get('lie'), 10, 'VerificationFailed::OutputMismatch'],
    ] as const) {
      const told = await runProgram([copy.program, 'verify', '--bundle', bundle ?? ''])
      expect([text, told.code, told.stdout + told.stderr]).toEqual([text, code, expect.stringContaining(text)])
    }
  })

  test('files with one more byte never run, though they are changed while the node runs', async () => {
    await appendFile(join(copy.module, 'dist/duckdb-node-eh.worker.cjs'), '\n')
    expect(await kindOf(proof(simple))).toBe(unavailable)
    await bare.end('SIGTERM')
    bare = await serveNode(live.dataDir, ['--anonymous-read'], {}, [copy.program])
    const info = await send(bare.url, '/info', { headers: { authorization: `Bearer ${token}` } })
    expect([info.at('engines'), await kindOf(proof(simple))]).toEqual([[], unavailable])
  })
})
