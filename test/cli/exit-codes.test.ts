// What a script relies on: exit codes, and that only data is on stdout.

import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withFlags } from '../../src/libraries/formats/flags.ts'
import { exitCodeOf } from '../../src/cli/problem.ts'
import { errorTable } from '../../src/libraries/base/error-table.ts'
import { type Finished, runCommand } from '../helpers/run-node.ts'
import { problem, startStub } from './stub-node.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-cli-'))
await writeFile(join(folder, 'records.bin'), 'one')

function run(...args: string[]): Promise<Finished> {
  return runCommand(args, { cwd: folder })
}

describe.concurrent('the command line', () => {
  test('ends with 2 for an unknown command, and names the one that was meant', async () => {
    const { code, stdout, stderr } = await run('qery', 'select 1')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('Did you mean query?')
  })

  test.each([
    ['key leaked', 'key rotate --leaked <did>', 'did:key:z6Mk', '--data', 'none'],
    ['ledger witness', 'serve --roles witness', '--policy', 'none'],
    ['pack', 'fsck --pack', '--data', 'none'],
    ['export iceberg', 'export <dataset> --format iceberg -o <dir>', 'me/lab', 'lake'],
    ['streams check', 'streams apply --dry-run', '--log', 'kafka://127.0.0.1:9'],
  ])('ends with 2 for %s, a command that is gone, and says what is typed in its place', async (old, now, ...more) => {
    const { code, stderr } = await run('--server', 'http://127.0.0.1:1', ...old.split(' '), ...more)
    expect(code).toBe(2)
    expect(stderr).toContain(`\nhint: Say npx proofstream ${now}\n`)
  })

  test.each([
    ['serve --port 9000', '--listen 127.0.0.1:9000'],
    ['serve --host 0.0.0.0', '--listen 0.0.0.0:8080'],
    ['serve --db data', '--data <dir>'],
    ['query x --url http://127.0.0.1:1', '--server http://127.0.0.1:8080'],
    ['tail me/lab --host 127.0.0.1', '--server http://127.0.0.1:8080'],
    ['tail me/lab --format json', '-o json, ndjson, csv or table'],
    ['dataset list --json', '-o json, ndjson, csv or table'],
    ['dataset list --token pst_x', '--token-file <file>, or PROOFSTREAM_TOKEN in the environment'],
    ['backup --database data', '--data <dir>'],
    ['-v', '--version'],
    ['key list', 'npx proofstream key show'],
    ['--server http://127.0.0.1:1 ls', 'npx proofstream dataset list'],
    ['dataset rm me/lab', 'npx proofstream dataset delete <name>'],
    ['token delete 1', 'npx proofstream token revoke <id>'],
    ['import me/lab a.csv', 'npx proofstream ingest <dataset> <file>'],
  ])('ends with 2 for %s, the words of another program, and says what they are here', async (typed, here) => {
    const { code, stdout, stderr } = await run(...typed.split(' '))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^error: unknown (?:option|command) /)
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(`hint: Say ${here}`)
  })

  test('guesses nothing', async () => {
    expect((await run('token', 'list', '--plain')).stderr).toBe("error: unknown option '--plain'\n")
    expect((await run('frobnicate')).stderr).toBe("error: unknown command 'frobnicate'\n")
  })

  test.each([
    ['a missing argument', ['query']],
    ['an unknown option', ['tail', 'me/lab', '--limits', '3']],
    ['a value that is no number', ['tail', 'me/lab', '-n', 'many']],
    ['an unknown form', ['query', 'select 1', '-o', 'xml']],
    ['a file of rows without a form', ['export', 'me/lab', '-o', 'xml']],
    ['a table without a directory', ['export', 'me/lab', '--format', 'iceberg', '-o', 'json']],
    ['a table of some rows', ['export', 'me/lab', '--format', 'iceberg', '-o', 'lake', '--where', 'x > 1']],
    ['a dataset that is not packed', ['fsck', folder, '--dataset', 'me/lab']],
    ['a base of what is no table', ['export', 'me/lab', '-o', 'x.csv', '--base', 's3://lake']],
    ['a name that is no dataset', ['tail', 'lab']],
    ['an address that is none', ['tail', 'me/lab', '--server', 'localhost:1']],
    ['a file whose format cannot be told', ['ingest', 'me/lab', 'records.bin', '--server', 'http://127.0.0.1:1']],
    ['an option value of serve that is none', ['serve', '--cut-interval', 'soon']],
    ['a route to a reserved name', ['serve', '--mqtt', 'tcp://h', '--mqtt-route', 'a/b=query/x']],
    ['a route to a name that is none', ['serve', '--mqtt', 'tcp://h', '--mqtt-route', 'a/b=a b/x']],
    ['a witness with another role', ['serve', '--roles', 'witness,replica']],
    ['a witness with a log', ['serve', '--roles', 'witness', '--log', 'kafka://127.0.0.1:9']],
    ['an option without effect', ['serve', '--store', 'HTTPS//node', '--follow-token', 'pst_x']],
    ['an option that is gone', ['serve', '--store', 's3://acc', '--s3-endpoint', 'http://127.0.0.1:1']],
  ])('ends with 2 for %s', async (_, args) => {
    const { code, stdout, stderr } = await run(...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^error: /)
    const options = args.filter((arg) => /^--(?:cut-interval|mqtt-route|s3-endpoint|follow-token)$/.test(arg))
    expect(options.filter((option) => !stderr.includes(option.slice(2)))).toEqual([])
  })

  test('follows a dataset to its new name, and not for ever', async () => {
    const moved = { status: 308, headers: { location: '/me/lab/tail' } }
    await using stub = await startStub({ 'GET /me/lab/tail': moved, 'GET /me/lab/metadata': moved })
    const { code, stderr } = await run('tail', 'me/lab', '--server', stub.url)
    expect({ code, asked: stub.asked.length < 5 }).toEqual({ code: 3, asked: true })
    expect(stderr).toContain('The dataset has another name now: me/lab.')
  })

  test('ends with 0 for help, on stdout', async () => {
    const { code, stdout, stderr } = await run('ingest', '--help')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('Usage: proofstream ingest')
  })

  test('has its commands in three groups, each where a person looks for it', async () => {
    const { stdout } = await run('--help')
    const groups = ['Every day', 'Proofs', 'Operating a node'].map((heading) => {
      const [, below = ''] = stdout.split(`\n${heading}:\n`)
      return (below.split('\n\n')[0] ?? '').match(/(?<=^ {2})[a-z-]+/gm)
    })
    expect(groups).toEqual([
      ['serve', 'demo', 'dataset', 'ingest', 'receipt', 'tail', 'query', 'export', 'completion', 'help'],
      ['verify', 'bundle', 'pack-evidence', 'ledger'],
      ['doctor', 'token', 'key', 'engine', 'fsck', 'backup', 'restore', 'log', 'streams'],
    ])
    expect(stdout).not.toMatch(/^Commands:/m)
    expect((await run('dataset', '--help')).stdout).toMatch(/^Commands:\n {2}create <name>/m)
  })

  test.each([
    ['backup', '--config <file>, --data <text>, --store <text>, --node-key <text>'],
    ['restore', '--same-log'],
    ['doctor', 'All options of serve'],
  ])('names the options that %s shares with serve, and leaves their texts to its help', async (command, named) => {
    const { stdout } = await run(command, '--help')
    expect(stdout).toContain(named)
    expect(stdout).toContain('proofstream serve --help')
    expect(stdout).not.toMatch(/path-style|mechanism/)
  })

  test.each([
    ['a file that is not there', ['verify', 'none.json', '--offline']],
    ['a file to ingest that is not there', ['ingest', 'me/lab', 'none.csv']],
    ['one whose name would not tell its format', ['ingest', 'me/lab', 'none.dat']],
    ['a token file that is not there', ['tail', 'me/lab', '--token-file', 'none']],
    ['a config file that is not there', ['serve', '--config', 'none.json']],
    ['a data directory without a store', ['fsck', folder]],
  ])('ends with 3 for %s', async (_, args) => {
    const { code, stderr } = await run(...args)
    expect(code).toBe(3)
    expect(stderr).toMatch(/^error: /)
  })

  test('ends with 6 at once when no node is there, and says how to start one', async () => {
    const { code, stderr } = await run('ingest', 'me/lab', '--server', 'http://127.0.0.1:1')
    expect(code).toBe(6)
    expect(stderr).toContain('proofstream serve')
    expect(stderr).not.toContain('Trying again')
  })

  test('ends with 6 when the connection breaks', async () => {
    await using stub = await startStub({ 'GET /me/lab/tail': 'lost' })
    expect((await run('tail', 'me/lab', '--server', stub.url)).code).toBe(6)
  })

  test('ends with 1 when what answers is no node', async () => {
    await using stub = await startStub({ 'GET /me/lab/tail': { body: '<html>' } })
    const { code, stderr } = await run('tail', 'me/lab', '--server', stub.url)
    expect(code).toBe(1)
    expect(stderr).toContain('not JSON')
  })

  test.each([
    [403, 'Forbidden', 4],
    [404, 'BlockNotFound', 3],
    [500, 'Internal', 1],
    [504, 'QueryTimeout', 6],
  ])('ends as the status %i (%s) says: %i', async (status, kind, expected) => {
    await using stub = await startStub({ 'GET /me/lab/tail': problem(status, kind, 'It is so.', { hint: 'Do so.' }) })
    const { code, stdout, stderr } = await run('tail', 'me/lab', '--server', stub.url)
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' })
    const requestId = status >= 500 ? '  request id: b1c9\n' : ''
    expect(stderr).toBe(`error: It is so.  (${status} ${kind})\n${requestId}hint: Do so.\n`)
  })

  test('says what to do in its own words where a node speaks of HTTP', async () => {
    const hint = { hint: 'Send the header Authorization: Bearer <token>.' }
    await using stub = await startStub({
      'GET /datasets': problem(401, 'Unauthenticated', 'This needs a token.', hint),
    })
    const { code, stderr } = await run('dataset', 'list', '--server', stub.url)
    expect(code).toBe(4)
    expect(stderr).toContain('hint: Name a token with --token-file')
  })

  test('points at the place in the SQL, in columns of the terminal', async () => {
    const fault = problem(400, 'SqlUnknownName', 'There is no column tmep.', {
      position: { offset: 20, line: 2, column: 12 },
      candidates: ['temp', 'time'],
    })
    await using stub = await startStub({ 'POST /query': fault })
    const { code, stderr } = await runCommand(['query', '-', '--server', stub.url], {
      input: "select '温度',\n\tx, '温' || tmep\nfrom y",
      cwd: folder,
    })
    expect(code).toBe(5)
    expect(stderr.split('\n').slice(1, 4)).toEqual([
      "  \tx, '温' || tmep",
      `  \t${' '.repeat(11)}^`,
      '  candidates: temp, time',
    ])
  })

  test('shows the first ten records that do not fit, without their control characters', async () => {
    const errors = Array.from({ length: 12 }, (_, at) => ({
      record: at,
      line: at + 2,
      column: 'temp',
      kind: 'WrongType',
      message: `value \u001b[31m${at}`,
      excerpt: 'abc',
    }))
    await using stub = await startStub({
      'GET /me/lab': { body: {} },
      'POST /me/lab/ingest': problem(422, 'RecordsDoNotFit', '40 records do not fit.', { errors, errorsTotal: 40 }),
    })
    const { code, stderr } = await runCommand(['ingest', 'me/lab', '--server', stub.url], { input: '{}', cwd: folder })
    expect(code).toBe(5)
    const lines = stderr.split('\n')
    expect(lines[1]).toMatch(/^ {2}record +line +column +kind +message +excerpt$/)
    expect(lines[2]).toMatch(/^ {2}0 +2 +temp +WrongType +value \\u001b\[31m0 +abc$/)
    expect(lines[12]).toBe('  … and 30 more')
  })

  test('gives every kind of the error table an exit code that is not that of success', () => {
    const codes = Object.entries(errorTable).map(([kind, { status }]) => [kind, exitCodeOf(status, kind)] as const)
    expect(codes.filter(([, code]) => ![1, 3, 4, 5, 6, 8, 10, 11].includes(code))).toEqual([])
    expect(Object.fromEntries(codes)).toMatchObject({
      SqlSyntax: 5,
      RecordsDoNotFit: 5,
      BodyTooLarge: 5,
      Forbidden: 4,
      ReceiptNotFound: 3,
      IdempotencyKeyReused: 8,
      HeadMoved: 8,
      Saturated: 6,
      OutcomeUnknown: 6,
      StorageFull: 1,
      'InvalidRequest::BadSignature': 10,
      'VerificationFailed::OutputMismatch': 10,
      'VerificationFailed::DatasetBlockNotFound': 11,
      'VerificationInconclusive::EngineUnavailable': 11,
    })
  })
})

test.each([
  ['the zone is missing (or say timeZone=UTC)', 'the zone is missing (or say --time-zone UTC)'],
  ['Say eventTimeUnit=s, ms, us or ns to send epochs.', 'Say --event-time-unit s, ms, us or ns to send epochs.'],
  ['(say integers=float64). unknownFields=add', '(say --integers float64). --unknown-fields add'],
  [
    'Write geometry=<longitude>,<latitude> or geometry=lon,lat.',
    'Write --geometry <longitude>,<latitude> or --geometry lon,lat.',
  ],
  [
    'Say header=present or header=absent in the media type: text/csv; header=absent.',
    'Say --header present or --header absent.',
  ],
  ['a=b, timezone=x, csvHeader=1, timeZone=', 'a=b, timezone=x, csvHeader=1, timeZone='],
])('parameters of HTTP become flags: %j is told as %j', (said, told) => {
  expect(withFlags(said)).toBe(told)
})
