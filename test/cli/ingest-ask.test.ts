// `ingest` where it is in doubt how a file is read: what it asks at a terminal, what it prints without one, --yes.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, type AtTerminal, endOfInput, enter, interrupt, runAtTerminal } from '../helpers/at-terminal.ts'
import { type Finished, runCommand, runShell, serveNode, type ServedNode } from '../helpers/run-node.ts'
import { problem, receipt, type Reply, startStub, type StubNode } from './stub-node.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-ask-'))
/** The beginning of one. */
const workbook = Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26), Buffer.from('[Content_Types].xml')])
const german = 'Zeit;Station;Wert\r\n31.12.2025 14:05;K\u00f6ln;1.234,5\r\n31.12.2025 14:10;K\u00f6ln;1.235,25\r\n'
const files = {
  'german.csv': Buffer.from(german, 'latin1'),
  'us.csv': 'id,at\n1,01/02/2025 09:00 AM\n2,03/04/2025 10:30 PM\n',
  'two.csv': "n,it's start,end\n1,2025-01-01T00:00:00Z,2025-01-02T00:00:00Z\n",
  'plain.csv': 'id,t\n1,2025-01-01T00:00:00Z\n',
}
for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
afterAll(() => rm(folder, { recursive: true }))

describe('with a node', () => {
  let node: ServedNode
  const env = { PROOFSTREAM_DATA: join(folder, 'data') }
  beforeAll(async () => {
    node = await serveNode(join(folder, 'data'))
  })
  afterAll(async () => {
    await node.end('SIGTERM')
  })

  function there(args: readonly string[], answers: readonly Answer[]): Promise<AtTerminal> {
    return runAtTerminal(['ingest', ...args, '--server', node.url], answers, { cwd: folder, env })
  }

  function command(...args: readonly string[]): Promise<Finished> {
    return runCommand([...args, '--server', node.url], { cwd: folder, env })
  }

  async function rowsOf(dataset: string, columns: string): Promise<readonly unknown[]> {
    const { stdout } = await command('query', `select ${columns} from "${dataset}" order by "offset"`, '-o', 'json')
    return JSON.parse(stdout) as readonly unknown[]
  }

  test('a person chooses what dates are and types the zone, which the node checks; the columns are shown before they are made', async () => {
    const answers: readonly Answer[] = [
      ['Which of 1 to 3 ', `4${enter}`],
      ['Which of 1 to 3 ', `2${enter}`],
      ['zone of times', enter],
      ['zone of times', `Mars/Olympus${enter}`],
      ['is no zone', ''],
      ['zone of times', `America/New_York${enter}`],
      ['Store it so?', enter],
    ]
    const { code, shown, left } = await there(['me/us', 'us.csv'], answers)
    expect([code, left]).toEqual([0, []])
    expect(shown).toMatch(
      /2\) at: .*MM\/dd\/yyyy.*\n +--event-time at --set 'dateFormat.at=MM\/dd\/yyyy hh:mm a' --time-zone ''\n/,
    )
    expect(shown).toMatch(/^at +│ String +│ +│ +0 │ 01\/02\/2025 09:00 AM$/m)
    expect(shown).toMatch(/^at +│ Timestamp │ MM\/dd\/yyyy hh:mm a; .*America\/New_York │ +0 │ 2025-01-02T14:00:00Z$/m)
    expect(await rowsOf('me/us', '"at", id')).toEqual([
      { at: '2025-01-02T14:00:00Z', id: 1 },
      { at: '2025-03-05T03:30:00Z', id: 2 },
    ])
  })

  test.each([
    ['no', [['Which', `n${enter}`]], 5],
    [
      'no at last',
      [
        ['Which', `3${enter}`],
        ['so?', `n${enter}`],
      ],
      5,
    ],
    ['the end of input', [['Which', endOfInput]], 5],
    ['an interrupt', [['Which', interrupt]], 130],
    [
      'an interrupt at the zone',
      [
        ['Which', `1${enter}`],
        ['zone', interrupt],
      ],
      130,
    ],
  ] as const)('%s stores nothing', async (_, answers, code) => {
    const ended = await there(['me/none', 'us.csv'], answers)
    expect([ended.code, ended.stdout, ended.left]).toEqual([code, '', []])
    expect((await command('dataset', 'show', 'me/none')).code).toBe(3)
  })

  test('nothing is asked where nothing is in doubt', async () => {
    const { code, shown } = await there(['me/plain', 'plain.csv'], [])
    expect([code, shown.includes('?')]).toEqual([0, false])
    expect(shown).toContain(
      "warning: plain.csv: 't' is used as the event time; --event-time received takes the time of",
    )
    expect(shown).toContain('created dataset me/plain: t Timestamp, id Int64\n')
  })

  test('a dry run shows the columns', async () => {
    const { code, stdout } = await command('ingest', 'me/dry', 'plain.csv', '--dry-run', '-o', 'table')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^plain.csv: 1 row would fit; nothing stored\n {2}name │ type +│ read │ nulls │ value\n/)
    expect(stdout).toMatch(/^ {2}t +│ Timestamp │ +│ +0 │ 2025-01-01T00:00:00Z$/m)
  })

  test('without a terminal each way is printed as flags, which work as they stand', async () => {
    const { code, stderr } = await command('ingest', 'me/two', 'two.csv')
    const ways = [...stderr.matchAll(/^ +\d\) .*\n +(--.*)$/gm)].map(([, flags = '']) => flags)
    expect([code, ways]).toEqual([
      5,
      [String.raw`--event-time 'it'\''s start'`, '--event-time end', '--event-time received'],
    ])
    for (const [at, flags] of ways.entries()) {
      const line = `proofstream ingest me/two${at} two.csv ${flags} --server ${node.url}`
      const done = await runShell(line, { cwd: folder, env })
      expect([flags, done.code, done.stderr]).toEqual([flags, 0, expect.stringContaining('created dataset')])
    }
    expect(await rowsOf('me/two1', '"end"')).toEqual([{ end: '2025-01-02T00:00:00Z' }])
  })

  test('a zone that is to be filled in is empty in the flags, and refused so', async () => {
    const { stderr } = await command('ingest', 'me/zone', 'us.csv')
    const [, flags = ''] = /^ +1\) .*\n +(--.*)$/m.exec(stderr) ?? []
    expect(stderr).toContain('fill in --time-zone')
    const line = (zone: string): string =>
      `proofstream ingest me/zone us.csv ${flags.replace("''", zone)} --server ${node.url}`
    expect((await runShell(line("''"), { cwd: folder, env })).code).toBe(5)
    expect((await runShell(line('UTC'), { cwd: folder, env })).code).toBe(0)
  })

  test('a table of Excel in German is read with the flags of its dialect, and its times asked for', async () => {
    const flags = ['--charset', 'windows-1252', '--set', 'delimiter=;', '--set', 'decimal=,', '--set', 'group=.']
    const { code, left } = await there(
      ['me/excel', 'german.csv', ...flags],
      [
        ['1) Zeit: ', ''],
        ['Which of 1 to 2 ', `1${enter}`],
        ['zone', `Europe/Berlin${enter}`],
        ['Store it so?', `y${enter}`],
      ],
    )
    expect([code, left]).toEqual([0, []])
    expect(await rowsOf('me/excel', '"Zeit", "Station", "Wert"')).toEqual([
      { Zeit: '2025-12-31T13:05:00Z', Station: 'K\u00f6ln', Wert: 1234.5 },
      { Zeit: '2025-12-31T13:10:00Z', Station: 'K\u00f6ln', Wert: 1235.25 },
    ])
  })

  test.each([
    ['book.csv', workbook, '--format excel'],
    ['tabs.csv', 'a\tb\n1\t2\n', '--set delimiter=tab, or send it with --format tsv'],
    ['lines.json', '{"a":1}\n{"a":2}\n', '--format ndjson'],
    ['page.json', '<!DOCTYPE html><html>', 'an HTML page'],
    ['topology.json', '{"type":"Topology","arcs":[],"objects":{}}', 'send that with --format geojson'],
  ])('what the node says of %s is told in words of the command', async (name, content, hint) => {
    await writeFile(join(folder, name), content)
    const { code, stderr } = await command('ingest', 'me/words', name)
    expect([code, stderr]).toEqual([5, expect.stringContaining(hint)])
    expect(stderr).not.toMatch(/^(?:error|hint): .*(?:text|application)\//m)
  })

  test('rules of a dataset are changed one by one, and taken away', async () => {
    await command('dataset', 'create', 'me/rules', '--column', 'a:Float64?')
    const set = async (...rules: readonly string[]): Promise<unknown> => {
      const flags = rules.flatMap((rule) => ['--set', rule])
      const { code, stderr } = await command('dataset', 'set', 'me/rules', ...flags)
      const { stdout } = await command('dataset', 'show', 'me/rules', '-o', 'json')
      return code === 0 ? (JSON.parse(stdout) as Record<string, unknown>)['ingest'] : [code, stderr]
    }
    expect(await set('delimiter=;', 'trim=true', 'nulls=NA', 'nulls=-')).toEqual({
      delimiter: ';',
      trim: true,
      nulls: ['NA', '-'],
    })
    expect(await set('decimal=,', 'nulls=', 'trim=false')).toEqual({ delimiter: ';', decimal: ',' })
    const sent = await runCommand(['ingest', 'me/rules', '--format', 'csv', '--server', node.url], {
      env,
      input: 'a;b\n1,5;x\n',
    })
    expect([sent.code, sent.stderr]).toEqual([5, expect.stringContaining('--unknown-fields')])
    expect(await set('delimiter=', 'decimal=')).toBeUndefined()
    expect(await set('delimiter=1')).toEqual([5, expect.stringContaining('delimiter')])
    expect(await set('delimeter=;')).toEqual([2, expect.stringContaining('names no parameter of ingest')])
  })
})

const offer = { parameters: { delimiter: ';', decimal: ',' }, query: 'delimiter=%3B&decimal=%2C', first: { Wert: 1.5 } }
const other = { parameters: { delimiter: ';' }, query: 'delimiter=%3B', first: { Wert: '1,5' } }
const columns = [{ name: 'Wert', type: 'String', nulls: 0, value: '1,5' }]

describe.concurrent('with a node that offers', () => {
  /** A node to which a body without a delimiter is refused, or taken as text, with these offers. */
  async function offering(offers: readonly unknown[], { isRefused = true, isThere = false } = {}): Promise<StubNode> {
    return startStub({
      ...(isThere && { 'GET /me/lab': { body: { columns: [] } } }),
      'POST /me/lab/ingest': ({ query }): Reply => {
        const isDry = query.get('dryRun') === 'true'
        const warnings = ['Odd: timeZone=UTC helps.']
        const answer = isDry ? { dryRun: true, records: 1, warnings } : receipt({ warnings })
        if (query.has('delimiter')) return { body: { ...answer, columns: [{ ...columns[0], type: 'Float64' }] } }
        return isRefused ? problem(422, 'RecordsDoNotFit', 'No.', { offers }) : { body: { ...answer, columns, offers } }
      },
    })
  }

  const told = (stub: StubNode): readonly string[] =>
    stub.of('POST', '/me/lab/ingest').map(({ query }) => decodeURIComponent(query.toString()))

  function send(stub: StubNode, flags: readonly string[], answers?: readonly Answer[]): Promise<AtTerminal | Finished> {
    const args = ['ingest', 'me/lab', 'german.csv', ...flags, '--server', stub.url]
    return answers === undefined ? runCommand(args, { cwd: folder }) : runAtTerminal(args, answers, { cwd: folder })
  }

  test('the only offer is shown with its columns, and taken at a yes', async () => {
    await using stub = await offering([offer])
    const { code, shown } = (await send(stub, [], [['Store it so?', enter]])) as AtTerminal
    expect([code, told(stub)]).toEqual([
      0,
      ['create=true&dryRun=true', 'create=true&delimiter=;&decimal=,&dryRun=true', 'create=true&delimiter=;&decimal=,'],
    ])
    expect(shown).toContain("1) first record: Wert 1.5\n     --set 'delimiter=;' --set decimal=,\n")
    expect(shown).toMatch(/^Wert │ Float64 │[^]*^warning: german.csv: Odd: --time-zone UTC helps\.$[^]*Store it so/m)
    expect(shown.match(/Odd/g)).toHaveLength(1)
  })

  test('what is taken as text may stay so', async () => {
    await using stub = await offering([offer], { isRefused: false })
    const { code, shown } = (await send(stub, [], [['Which of 1 to 2 ', `2${enter}`]])) as AtTerminal
    expect([code, told(stub)]).toEqual([0, ['create=true&dryRun=true', 'create=true']])
    expect(shown).toMatch(/^Wert │ String │[^]*2\) as in the table$/m)
    expect(shown).not.toContain('otherwise')
  })

  test('an offer that settles nothing is not sent again and again unasked', async () => {
    await using stub = await startStub({ 'POST /me/lab/ingest': problem(422, 'SayHow', 'No.', { offers: [offer] }) })
    const { code } = await send(
      stub,
      [],
      [
        ['Which of 1 to 1 ', `1${enter}`],
        ['Which of 1 to 1 ', `n${enter}`],
      ],
    )
    expect([code, told(stub).length]).toEqual([5, 3])
    expect([(await send(stub, ['--yes'])).code, told(stub).length]).toEqual([5, 5])
  })

  test('of a dataset that is there, a person is asked after a refusal alone', async () => {
    await using stub = await offering([offer, other], { isThere: true })
    const answers: readonly Answer[] = [
      ['Which of 1 to 2 ', `2${enter}`],
      ['Store it so?', enter],
    ]
    const { code } = await send(stub, [], answers)
    expect([code, told(stub)]).toEqual([0, ['', 'delimiter=;&dryRun=true', 'delimiter=;']])
  })

  test.each([
    [
      [offer],
      {},
      ['create=true&dryRun=true', 'create=true&delimiter=;&decimal=,&dryRun=true', 'create=true&delimiter=;&decimal=,'],
    ],
    [[offer], { isThere: true }, ['', 'delimiter=;&decimal=,&dryRun=true', 'delimiter=;&decimal=,']],
  ] as const)('--yes takes the only offer: %j %j', async (offers, state, asked) => {
    await using stub = await offering(offers, state)
    const { code, stderr } = (await send(stub, ['--yes'])) as Finished
    expect([code, told(stub)]).toEqual([0, asked])
    expect(stderr).toContain("german.csv is read with --set 'delimiter=;' --set decimal=,\n")
  })

  test.each([
    [[offer, other], {}],
    [[offer, other], { isRefused: false }],
    [[offer, other], { isThere: true }],
    [[{ ...offer, parameters: { delimiter: ';', timeZone: '' } }], {}],
  ])('--yes takes none of two, nor one that is to be filled in: %#', async (offers, state) => {
    await using stub = await offering(offers, state)
    const { code, stderr } = (await send(stub, ['--yes'])) as Finished
    expect([code, stderr.match(/--set 'delimiter=;'/g)?.length, told(stub).length]).toEqual([5, offers.length, 1])
  })

  test('--yes is for files that are to be stored', async () => {
    await using stub = await offering([offer])
    const { code } = await runCommand(['ingest', 'me/lab', '--yes', '--server', stub.url], { input: '{}\n' })
    const dry = await send(stub, ['--yes', '--dry-run'])
    expect([code, dry.code, told(stub)]).toEqual([2, 2, []])
  })

  test('without a terminal offers are printed, of a body that was stored too; a dry run asks nothing', async () => {
    await using refusing = await offering([offer, other])
    const refused = (await send(refusing, [])) as Finished
    expect([refused.code, told(refusing)]).toEqual([5, ['create=true']])
    expect(refused.stderr).toContain(
      "  1) first record: Wert 1.5\n     --set 'delimiter=;' --set decimal=,\n  2) first",
    )
    await using taking = await offering([offer], { isRefused: false })
    const taken = (await send(taking, [])) as Finished
    expect([taken.code, taken.stderr]).toEqual([
      0,
      expect.stringContaining("  1) first record: Wert 1.5\n     --set 'delim"),
    ])
    expect((await send(taking, ['--dry-run'], [])).code).toBe(0)
    expect(told(taking)).toEqual(['create=true', 'create=true&dryRun=true'])
  })
})
