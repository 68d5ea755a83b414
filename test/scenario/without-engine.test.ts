// A node, and the command over a bundle, where the native engine is not installed: records are taken and proofs are read, and
// what needs the engine says so, with the command that adds it.

import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { send, startLiveNode } from '../helpers/live-node.ts'
import { runProgram, serveNode } from '../helpers/run-node.ts'
import { withoutNative } from '../helpers/without-native.ts'
import { bundleOf } from '../node/bundle/support.ts'

const unavailable = 'VerificationInconclusive::EngineUnavailable'
const toDo = expect.stringContaining('proofstream engine add 1.5.6')

test('without an engine a node starts, and names what is missing where it is needed', async () => {
  const live = await startLiveNode({ 'anonymous-read': true })
  const copy = await withoutNative()
  try {
    await live.ingest('acme/lab', [{ city: 'Oslo' }], '?create=true')
    const proof = (await live.query('SELECT city FROM "acme/lab"', { include: ['Input', 'Proof'] })).text
    const bundle = await bundleOf(live, proof)
    await live.node.stop()
    const bare = await serveNode(live.dataDir, ['--anonymous-read'], {}, [copy.program])
    const asked = async (path: string, body: string) =>
      await send(bare.url, path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect((await send(bare.url, '/info', {})).at('engines')).toEqual([])
    expect((await send(bare.url, '/readyz', {})).json).toMatchObject({
      ok: true,
      off: { queries: 'The engine DuckDB 1.5.6 is not on this machine.' },
    })
    const query = await asked('/query', JSON.stringify({ query: 'SELECT 1 AS one' }))
    expect([query.refusal, query.at('hint')]).toEqual(['400 EngineUnavailable', toDo])
    const verified = await asked('/verify', proof)
    expect([verified.at('error.kind'), verified.at('hint')]).toEqual([unavailable, toDo])
    await bare.end('SIGTERM')
    const looked = await runProgram([copy.program, 'doctor', '-o', 'ndjson', '--data', live.dataDir])
    expect(looked.stdout).toContain('DuckDB 1.5.6 is not on this machine.')
    const offline = await runProgram([copy.program, 'verify', '--bundle', bundle])
    const said = offline.stdout + offline.stderr
    expect([offline.code, said, said]).toEqual([11, expect.stringContaining(unavailable), toDo])
  } finally {
    await live.stop()
    await rm(copy.dir, { recursive: true })
  }
})
