// `query`, `tail`, `verify` and the commands about datasets and tokens, against a stub; proofs are those of live nodes.

import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { proofVectors } from '../libraries/proof/proof-vectors.ts'
import { type Finished, runCommand, runProgram } from '../helpers/run-node.ts'
import { repository } from '../helpers/sources.ts'
import { problem, startStub } from './stub-node.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-query-'))
const [proof] = proofVectors
const savedAnswer = proof?.responseBodyBytes ?? ''
const signer = proof?.did ?? ''
await writeFile(join(folder, 'proof.json'), savedAnswer)

function run(args: readonly string[], input = ''): Promise<Finished> {
  return runCommand(args, { cwd: folder, input })
}

const rows =
  '{"data":[[1,9007199254740993],[2,1.0]],"dataFormat":"JsonAoa","schema":{"fields":[{"name":"b"},{"name":"a"}]}}'

describe.concurrent('query', () => {
  test('reads SQL from stdin and prints rows, numbers as the node wrote them', async () => {
    await using stub = await startStub({ 'POST /query': { body: `{"output":${rows}}` } })
    const { code, stdout, stderr } = await run(['query', '-', '--server', stub.url, '-n', '7'], 'select\n1')
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '{"b":1,"a":9007199254740993}\n{"b":2,"a":1.0}\n',
      stderr: '',
    })
    expect(JSON.parse(stub.asked[0]?.body ?? '')).toEqual({
      query: 'select\n1',
      dataFormat: 'JsonAoa',
      include: ['Schema'],
      limit: 7,
    })
  })

  test('saves the answer with its proof byte for byte, and says when rows were left out', async () => {
    const body = `{"output":${rows},  "proof" : {}}\n`
    await using stub = await startStub({ 'POST /query': { body, headers: { 'result-truncated': 'true' } } })
    const { code, stdout, stderr } = await run(['query', 'select 1', '--proof', 'saved.json', '--server', stub.url])
    expect({ code, lines: stdout.split('\n').length }).toEqual({ code: 0, lines: 3 })
    expect(stderr).toMatch(/^proof saved to saved\.json.*\n2 rows, cut by limit 2: .*\n$/)
    expect(await readFile(join(folder, 'saved.json'), 'utf8')).toBe(body)
    expect(JSON.parse(stub.asked[0]?.body ?? '')).toMatchObject({ include: ['Input', 'Proof', 'Schema'] })
  })

  test('ends with 9 when the proof cannot be written', async () => {
    await using stub = await startStub({ 'POST /query': { body: `{"output":${rows}}` } })
    const { code } = await run(['query', 'select 1', '--proof', join('none', 'x.json'), '--server', stub.url])
    expect(code).toBe(9)
  })

  test('of the newest rows asks tail', async () => {
    await using stub = await startStub({ 'GET /me/lab/tail': { body: rows } })
    const { stdout } = await run(['tail', 'me/lab', '-n', '2', '--skip', '1', '-o', 'csv', '--server', stub.url])
    expect(stdout).toBe('b,a\n1,9007199254740993\n2,1.0\n')
    expect(Object.fromEntries(stub.asked[0]?.query ?? [])).toEqual({
      limit: '2',
      skip: '1',
      dataFormat: 'JsonAoa',
      schemaFormat: 'ArrowJson',
    })
  })
})

describe.concurrent('verify', () => {
  const offline = ['verify', '-', '--offline']

  test('accepts the proof of a live node offline, and names who signed', async () => {
    const { code, stdout, stderr } = await run(offline, savedAnswer)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      signer,
      checks: { signature: 'passed', outputHash: 'passed' },
    })
  })

  test('shows what was asked of what, and how much of it came', async () => {
    const file = join(repository, 'test', 'fixtures', 'answers', 'join.json')
    const { code, stdout } = await run(['verify', file, '--offline', '-o', 'table'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^\? Unchanged since it was signed by a key that nobody here knows\n/)
    expect(stdout).toMatch(/^ {2}question +select s\.name, max\(w\.rain\) as most from acme\.weather w join /m)
    expect(stdout).toMatch(/^ {2}dataset +acme\/weather \(did:odf:\w+\)$/m)
    expect(stdout).toMatch(/^ {2}dataset +acme\/stations \(did:odf:\w+\)$/m)
    expect(stdout).toMatch(/^ {2}answer +4 rows, none left out$/m)
    expect(stdout).toMatch(/^ {2}Gipfel 山 {2}8\.51$/m)
    expect(stdout).toMatch(/^ {2}key +did:key:z6Mk/m)
    expect(stdout).toMatch(/^Not checked\n {2}- That these rows follow from those blocks/m)
    expect(stdout).not.toMatch(/f1620/)
    const whole = await run(['verify', file, '--offline', '-o', 'table', '--verbose'])
    expect(whole.stdout).toMatch(/^ {2}block of acme\/weather +f1620[0-9a-f]{64}$/m)
  })

  test('ends with 10 for another signer, a changed row and a changed signature', async () => {
    const [other, output, signature] = await Promise.all([
      run([...offline, '--signer', 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'], savedAnswer),
      run(offline, savedAnswer.replace('"data":', '"DATA":')),
      run(
        offline,
        savedAnswer.replace(
          /"proofValue":"(u.)(.)/,
          (_, a: string, b: string) => `"proofValue":"${a}${b === 'A' ? 'B' : 'A'}`,
        ),
      ),
    ])
    expect([other.code, output.code, signature.code]).toEqual([10, 10, 10])
    expect(other.stderr).toContain('not by did:key:z6MkhaXg')
    expect(JSON.parse(output.stdout)).toMatchObject({ ok: false, checks: { outputHash: 'failed' } })
  })

  test('ends with 5 for a file that is no proof and with 11 for a proof of an unknown kind', async () => {
    const [text, kind] = await Promise.all([
      run(offline, '{"rows": 1,}'),
      run(offline, savedAnswer.replace('Ed25519Signature2020', 'Ed25519Signature2099')),
    ])
    expect([text.code, kind.code]).toEqual([5, 11])
    expect(text.stderr).toContain('at line 1')
  })

  test('has the node run the query again, without sending it the rows', async () => {
    const answer = { ok: true, signer: { did: signer, relation: 'known' }, engine: { name: 'duckdb' } }
    await using stub = await startStub({ 'POST /verify': { body: answer } })
    const { code, stdout } = await run(['verify', 'proof.json', '--server', stub.url])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, relation: 'known', checks: { reproduction: 'passed' } })
    const sent = stub.asked[0]?.body ?? ''
    expect(Object.keys(JSON.parse(sent) as object).sort()).toEqual(['commitment', 'input', 'proof', 'subQueries'])
  })

  test('adds what the node found: the time of the block, exact or pinned, whose key it is', async () => {
    const file = join(repository, 'test', 'fixtures', 'answers', 'join.json')
    const saved = JSON.parse(await readFile(file, 'utf8')) as { input: { datasets: object[] }; proof: object }
    const datasets = saved.input.datasets.map((one) => ({ ...one, blockTime: '2026-01-02T03:04:05Z' }))
    const answer = {
      ok: true,
      signer: { did: signer, relation: 'self' },
      engine: { name: 'duckdb', stability: 'exact' },
      answer: { rows: 4, extent: 'whole', datasets },
    }
    await using stub = await startStub({ 'POST /verify': { body: answer } })
    const { code, stdout } = await run(['verify', file, '--server', stub.url, '-o', 'table'])
    expect(code).toBe(0)
    expect(stdout.match(/^ {2}data of acme\/\w+ as of +2026-01-02T03:04:05Z$/gm)).toHaveLength(2)
    expect(stdout).toMatch(/^ {2}repeatable +exact: /m)
    expect(stdout).toMatch(/^ {2}whose +a key of the node that was asked$/m)
    expect(stdout).toContain(`${stub.url} ran the question again`)
    expect(stdout).toMatch(/^Not checked\n {2}- That what was recorded is true/m)
    const { stdout: json } = await run(['verify', file, '--server', stub.url, '-o', 'json'])
    expect(JSON.parse(json)).toMatchObject({
      rows: 4,
      explanation: expect.arrayContaining([{ about: 'answer', text: '4 rows, none left out' }]),
    })
  })

  test.each([
    ['VerificationFailed::OutputMismatch', 10, 'failed'],
    ['VerificationFailed::DatasetNotFound', 11, 'absent'],
    ['VerificationInconclusive::EngineUnavailable', 11, 'absent'],
  ])('tells %s with %i', async (kind, expected, reproduction) => {
    await using stub = await startStub({ 'POST /verify': problem(400, kind, 'It is so.') })
    const { code, stdout } = await run(['verify', 'proof.json', '--server', stub.url])
    expect(code).toBe(expected)
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, checks: { signature: 'passed', reproduction } })
  })

  test('offline loads neither the engine nor the server nor the store', async () => {
    const hook = join(folder, 'list-modules.mjs')
    await writeFile(
      hook,
      `import { registerHooks } from 'node:module'
       const urls = []
       registerHooks({ load(url, context, next) { urls.push(url); return next(url, context) } })
       process.on('exit', () => process.stderr.write(urls.join('\\n')))`,
    )
    const { code, stderr } = await runProgram([
      '--import',
      hook,
      'src/main.ts',
      'verify',
      join(folder, 'proof.json'),
      '--offline',
    ])
    expect(code).toBe(0)
    expect(stderr).toContain('src/libraries/proof/verify.ts')
    // Options, parameters, their flags and facts of formats are of the tables of the command.
    const loaded = stderr.split('\n').filter((url) => !/\/(?:options|facts|parameters|flags|presets)\.ts$/.test(url))
    expect(loaded.filter((url) => /duckdb|kafka|fastify|pino|hyparquet/.test(url))).toEqual([])
    const folders = new Set(
      loaded.flatMap((url) => /^(?!.*node_modules).*\/src\/(cli|\w+\/\w+)\//.exec(url)?.[1] ?? []),
    )
    expect([...folders].sort()).toEqual([
      'cli',
      'libraries/base',
      'libraries/columnar',
      'libraries/evidence',
      'libraries/ledger',
      'libraries/model',
      'libraries/proof',
    ])
  })
})

describe.concurrent('datasets and tokens', () => {
  test('are made from columns, a schema file and words', async () => {
    await using stub = await startStub({ 'PUT /me/lab': { status: 201, body: { id: 'did:odf:x' } } })
    const columns = ['--column', 'event_time:Timestamp', '--column', 'a:b:Float64?', '--keyword', 'x', '--private']
    const made = await run(['dataset', 'create', 'me/lab', ...columns, '--server', stub.url])
    expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: 'created dataset me/lab\n' })
    expect(JSON.parse(stub.asked[0]?.body ?? '')).toEqual({
      schema: {
        fields: [
          { name: 'event_time', type: 'Timestamp' },
          { name: 'a:b', type: 'Float64?' },
        ],
      },
      info: { keywords: ['x'] },
      visibility: 'private',
    })
  })

  test('are listed page by page', async () => {
    const dataset = (alias: string): object => ({ alias, rows: 1, owner: { accountName: 'me' } })
    await using stub = await startStub({
      'GET /datasets': ({ query }) =>
        query.get('after') === null
          ? { body: { datasets: [dataset('me/a')], next: 'me/a' } }
          : { body: { datasets: [dataset('me/b')] } },
    })
    const { stdout } = await run(['dataset', 'list', '--server', stub.url, '-o', 'csv'])
    expect(stdout).toBe('alias,rows,lastCommit,visibility,head,id\nme/a,1,,,,\nme/b,1,,,,\n')
    expect(stub.asked.map(({ query }) => query.get('after'))).toEqual([null, 'me/a'])
  })

  test('get tokens that expire, and lose them', async () => {
    await using stub = await startStub({
      'POST /tokens': { status: 201, body: { id: 't1', token: 'pst_x' } },
      'DELETE /tokens/t1': { status: 204, body: '' },
    })
    const args = [
      'token',
      'create',
      'bot',
      '--scope',
      'read',
      '--scope',
      'ingest',
      '--dataset',
      'me/*',
      '--expires',
      '30d',
    ]
    const { code, stdout } = await run([...args, '--server', stub.url])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '{"id":"t1","token":"pst_x"}\n' })
    const { expiresAt, ...body } = JSON.parse(stub.asked[0]?.body ?? '') as { expiresAt: string }
    expect(body).toEqual({ name: 'bot', scopes: ['read', 'ingest'], datasets: ['me/*'] })
    const days = (Date.parse(expiresAt) - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(30)
    expect(await run(['token', 'revoke', 't1', '--server', stub.url])).toMatchObject({ code: 0, stdout: '' })
  })
})
