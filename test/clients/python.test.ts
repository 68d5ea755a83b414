// The Python client: of every proof, forgery and damage it says what our verifier says; against a real node its rows, frames
// and refusals are exact. What needs pandas and polars is skipped, loudly, where python3 has them not.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, test } from 'vitest'
import { verifyOffline } from '../../src/libraries/proof/verify.ts'
import { run } from '../examples/run.ts'
import { liveNode, startLiveNode } from '../helpers/live-node.ts'
import { forgeries } from '../libraries/proof/forgeries.ts'
import { proofVectors, verifyVectors } from '../libraries/proof/proof-vectors.ts'
import { printed, printedOtherwise, saved } from '../libraries/proof/saved-answers.ts'

const env = { PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1' }
const hasFrames = spawnSync('python3', ['-c', 'import pandas, polars, pyarrow']).status === 0
if (!hasFrames) console.warn('NOT RUN: the data frames of the Python client need pandas, polars and pyarrow')

/** Verdicts on texts, hexadecimal, a line each: `ok <signer> <form> <extent>`, or `<outcome> <kind>`. */
const judge = `
import sys, proofstream
for line in sys.stdin:
    try:
        found = proofstream.verify(bytes.fromhex(line.strip()))
        print('ok', found.signer, found.form, found.extent)
    except proofstream.ProofError as error:
        print(error.outcome, error.kind)
`

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port // it listens on TCP
}

function verdictOf(text: Uint8Array): string {
  const verdict = verifyOffline(text)
  return verdict.ok
    ? `ok ${verdict.signer} ${verdict.canonicalForm ?? 'None'} ${verdict.answer.extent}`
    : `${verdict.outcome} ${verdict.kind}`
}

async function inPython(texts: readonly Uint8Array[]): Promise<string[]> {
  const input = texts.map((bytes) => `${Buffer.from(bytes).toString('hex')}\n`).join('')
  const { code, stdout, stderr } = await run('python3', ['-c', judge], { input, env })
  expect([code, stderr]).toEqual([0, ''])
  return stdout.trimEnd().split('\n')
}

/** One byte of a text replaced, by a generator that is the same each time. */
function* damages(text: string, count: number): Generator<Uint8Array> {
  let state = 88_172_645
  const next = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state % below
  }
  for (let i = 0; i < count; i++) {
    const bytes = Buffer.from(text)
    bytes[next(bytes.length)] = next(256)
    yield bytes
  }
}

describe('the verifier of the Python client', () => {
  test('says of proofs, forgeries and damages what ours says', async () => {
    const [live] = proofVectors
    const texts = [
      ...proofVectors.map(({ responseBodyBytes }) => responseBodyBytes),
      ...verifyVectors.map(({ requestBody }) => requestBody),
      ...forgeries.map(({ text }) => text),
      ...printedOtherwise.flatMap(([, data]) => [
        saved(data),
        printed(saved(data)),
        printed(saved(data)).replace('1', '2'),
      ]),
      saved('[[1]]').replace('"data":[[1]]', `"data":[[${'9'.repeat(400)}]]`),
      '',
      'x',
      '{}',
      '[]',
      `${'['.repeat(200)}${']'.repeat(200)}`,
      `${'['.repeat(50_000)}`,
      `\ufeff${live?.responseBodyBytes}`,
      live?.responseBodyBytes.replace('{', '{"input":{},') ?? '',
      JSON.stringify(JSON.parse(live?.responseBodyBytes ?? '{}'), undefined, 2),
      live?.responseBodyBytes.replace('"data"', '"d\\ud800ta"') ?? '',
      live?.responseBodyBytes.replace('"subQueries":[]', '"subQueries":[1]') ?? '',
    ].map((text) => Buffer.from(text))
    const damaged = [...damages(live?.responseBodyBytes ?? '', 300)]
    const all = [...texts, Buffer.from(live?.responseBodyBytes ?? '', 'utf16le'), ...damaged]
    expect(await inPython(all)).toEqual(all.map(verdictOf))
  })

  test('names the key that must have signed', async () => {
    const [live] = proofVectors
    const code = `import sys, proofstream
text = sys.stdin.read()
print(proofstream.verify(text, '${live?.did}').signer)
try: proofstream.verify(text, 'did:key:z6Mkother')
except proofstream.ProofError as error: print(error.outcome, error.kind)`
    const { stdout } = await run('python3', ['-c', code], { input: live?.responseBodyBytes ?? '', env })
    expect(stdout).toBe(`${live?.did}\nfailed OtherSigner\n`)
  })
})

describe('the Python client, with a node,', async () => {
  const live = await liveNode()
  const python = async (program: string): Promise<string> => {
    const setup = `import datetime, decimal, sys, tempfile, os, proofstream\nnode = proofstream.Node("${live.node.url}", "${live.adminToken}")\n`
    const { code, stdout, stderr } = await run('python3', ['-c', setup + program], { env })
    expect([code, stderr]).toEqual([0, ''])
    return stdout
  }

  it('writes rows, and reads them back with their types, checked', async () => {
    const program = `
receipt = node.ingest('acme/rows', [
    {'event_time': datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc), 'n': 9007199254740993, 'f': 0.1, 's': 'é"\\u2028', 'b': True},
    {'event_time': '2026-01-01T00:00:01.5Z', 'n': None, 'f': None, 's': None, 'b': False},
], create=True, controls={'integers': 'int64'})
print(receipt['status'], receipt['records']['committed'])
answer = node.query('select event_time, n, f, s, b, cast(f as decimal(10,2)) as d, [1, 2] as l, {a: 1} as st, date \\'2026-01-02\\' as day from acme.rows order by n nulls last', proof=True)
for row in answer.rows(): print(row)
print(answer.truncated, answer.checked.extent, node.verify(answer)['ok'])
print([row['n'] for row in node.tail('acme/rows')])
`
    const lines = (await python(program)).split('\n')
    expect(lines).toEqual([
      'committed 2',
      "{'event_time': datetime.datetime(2026, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), 'n': 9007199254740993, 'f': 0.1, 's': 'é\"\\u2028', 'b': True, 'd': Decimal('0.10'), 'l': [1, 2], 'st': {'a': 1}, 'day': datetime.date(2026, 1, 2)}",
      "{'event_time': datetime.datetime(2026, 1, 1, 0, 0, 1, 500000, tzinfo=datetime.timezone.utc), 'n': None, 'f': None, 's': None, 'b': False, 'd': None, 'l': [1, 2], 'st': {'a': 1}, 'day': datetime.date(2026, 1, 2)}",
      'False whole True',
      '[9007199254740993, None]',
      '',
    ])
  })

  it('fetches all rows of an answer, and warns where a node answers fewer at once', async () => {
    const small = await startLiveNode({ 'limit-result-rows': '150' })
    try {
      const program = `
import warnings
sql = 'select * from range(400)'
print(len(node.query(sql)), len(node.query(sql, limit=7)))
small = proofstream.Node('${small.node.url}', '${small.adminToken}')
with warnings.catch_warnings(record=True) as told:
    print(len(small.query(sql)), len(small.query(sql, limit=7)), [str(one.message) for one in told])
`
      expect(await python(program)).toBe(
        "400 7\n150 7 ['these are the first 150 rows of more: page with limit and skip, or export the dataset']\n",
      )
    } finally {
      await small.stop()
    }
  })

  it('repeats a batch under its key without doubling it, and sends decimals digit by digit', async () => {
    const program = `
rows = [{'n': decimal.Decimal('12345678901234567890.12345'), 'more': [decimal.Decimal('1.50')]}]
for _ in range(2): print(node.ingest('acme/keyed', rows, create=True, key='batch-1')['records'])
print(node.query('select count(*) as n from acme.keyed').rows())
print(node.query('select $a as a, $b as b', {'a': 'x', 'b': 2}).rows(), node.query('select 1 as a where $1 > 2', [3]).rows())
`
    expect(await python(program)).toBe(
      [
        "{'received': 1, 'committed': 1, 'duplicates': 0}",
        "{'received': 1, 'committed': 1, 'duplicates': 0}",
        "[{'n': 1}]",
        "[{'a': 'x', 'b': 2}] [{'a': 1}]",
        '',
      ].join('\n'),
    )
  })

  it('tells what was refused in the words of the node, and what it cannot send in its own', async () => {
    const program = `
def told(call):
    try: call()
    except Exception as error: print(type(error).__name__, getattr(error, 'kind', ''), getattr(error, 'status', ''), str(error)[:60])
told(lambda: node.query('select nothing from acme.rows'))
told(lambda: node.ingest('acme/none', [{'a': 1}]))
told(lambda: node.ingest('acme', [{'a': 1}]))
told(lambda: node.ingest('acme/rows', [{'f': float('nan')}]))
told(lambda: node.ingest('acme/rows', [{'event_time': datetime.datetime(2026, 1, 1)}]))
told(lambda: node.ingest('acme/rows', b'a,b'))
for row in ({1: 2}, {None: 2}, {'a': [{True: decimal.Decimal(1)}]}): told(lambda: node.ingest('acme/keys', [row], create=True))
told(lambda: node.export('acme/rows', 'rows.arrow'))
told(lambda: proofstream.Node('http://127.0.0.1:9', attempts=1).query('select 1'))
told(lambda: node.query('select random()', proof=True))
`
    expect((await python(program)).split('\n').map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
      'NodeError SqlUnknownName 400',
      'NodeError DatasetNotFound 404',
      'ValueError  ',
      'ValueError  ',
      'TypeError  ',
      'ValueError  ',
      'TypeError  ',
      'TypeError  ',
      'TypeError  ',
      'ValueError  ',
      'Unreachable  ',
      'NodeError NotReproducible 422',
      '',
    ])
  })

  it('follows a renamed dataset, and no redirect to another origin', async () => {
    const heard: string[] = []
    const other = createServer((request, response) => {
      heard.push(`${request.method} ${request.url} ${request.headers.authorization}`)
      response.end('{"data":[]}')
    })
    const first = createServer((request, response) => {
      const isMoved = request.url?.includes('/moved/') === true
      const location = isMoved ? '/acme/rows/tail' : `http://127.0.0.1:${portOf(other)}${request.url}`
      if (request.url?.startsWith('/acme/rows') === true) response.end('{"data":[{"n":1}]}')
      else response.writeHead(Number(request.url?.split('/')[1]?.slice(1)), { location }).end()
    })
    for (const server of [other, first]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const program = `
there = proofstream.Node("http://127.0.0.1:${portOf(first)}", "secret", attempts=1)
def told(call):
    try: print(call())
    except Exception as error: print(type(error).__name__, getattr(error, 'status', ''))
for status in (301, 302, 303, 307, 308):
    told(lambda: there.tail(f's{status}/x'))
    told(lambda: there.ingest(f's{status}/x', [{'a': 1}]))
    told(lambda: there.export(f's{status}/x', os.path.join(tempfile.mkdtemp(), 'a.csv')))
told(lambda: there._call('GET', '/s308/moved/x', None, {}))
for status in (301, 303, 307, 308): told(lambda: there._call('POST', f'/s{status}/moved/x', b'row', {}))
node.ingest('acme/former', [{'n': 1}], create=True)
node._call('PATCH', '/acme/former', b'{"alias":"acme/latter"}', {'Content-Type': 'application/json'})
print(node.ingest('acme/former', [{'n': 2}])['dataset']['alias'], [row['n'] for row in node.tail('acme/former')])
path = os.path.join(tempfile.mkdtemp(), 'all.csv')
print(node.export('acme/former', path) == os.path.getsize(path))
`
    const refused = [301, 302, 303, 307, 308].flatMap((status) => Array<string>(3).fill(`NodeError ${status}`))
    expect((await python(program)).split('\n')).toEqual([
      ...refused,
      `b'{"data":[{"n":1}]}'`,
      'NodeError 301',
      'NodeError 303',
      `b'{"data":[{"n":1}]}'`,
      `b'{"data":[{"n":1}]}'`,
      'acme/latter [1, 2]',
      'True',
      '',
    ])
    expect(heard).toEqual([])
    for (const server of [other, first]) server.close()
  })

  it('reads no more of a server than a node would answer', async () => {
    const endless = createServer((request, response) => {
      response.on('error', () => {})
      if (request.url?.includes('/cut') === true) {
        response.writeHead(200, { 'content-length': '100' }).write('{"data":', () => response.destroy())
        return
      }
      response.writeHead(request.url?.includes('/refused') === true ? 404 : 200)
      const piece = Buffer.alloc(65_536, '[')
      const write = (): void => {
        while (!response.destroyed && response.write(piece));
      }
      response.on('drain', write)
      write()
    })
    await new Promise<void>((done) => endless.listen(0, '127.0.0.1', done))
    const program = `
there = proofstream.Node("http://127.0.0.1:${portOf(endless)}", "secret", attempts=1)
for name in ('refused', 'endless', 'cut'):
    try: print(there.tail(f'{name}/x'))
    except Exception as error: print(type(error).__name__, getattr(error, 'status', ''), str(error).split(' ', 1)[-1][-50:])
`
    expect((await python(program)).split('\n')).toEqual([
      expect.stringMatching(/^NodeError 404 .*not in the words of a node$/),
      expect.stringMatching(/^NodeError 200 .*answered with more than 536870912 bytes$/),
      expect.stringMatching(/^Unreachable .*did not come$/),
      '',
    ])
    endless.closeAllConnections()
    endless.close()
  })

  it.runIf(hasFrames)('gives frames of pandas and polars with exact types, and takes them back', async () => {
    const program = `
import pandas, polars
answer = node.query('select event_time, n, f, s, b, cast(f as decimal(10,2)) as d from acme.rows order by n nulls last')
frame = answer.to_pandas()
print([str(t) for t in frame.dtypes], frame['n'].tolist(), len(frame))
table = answer.to_polars()
print(table.dtypes, table['n'].to_list(), table['d'].to_list())
print(node.query('select sum(n) as s from acme.rows').to_polars()['s'].to_list(), node.query('select sum(n) as s from acme.rows').to_pandas()['s'].tolist())
print(node.ingest('acme/frame', table.drop('d'), create=True)['records']['committed'])
print(node.ingest('acme/frame', frame.drop(columns='d'))['records']['committed'])
print(node.query('select count(*) as c, sum(n) as n, min(event_time) as t from acme.frame').rows())
empty = node.query('select n, s from acme.rows where false')
print(empty.to_pandas().shape, empty.to_polars().shape)
path = os.path.join(tempfile.mkdtemp(), 'rows.parquet')
print(node.export('acme/rows', path) == os.path.getsize(path), polars.read_parquet(path)['n'].to_list())
`
    expect((await python(program)).split('\n')).toEqual([
      "['datetime64[us, UTC]', 'Int64', 'Float64', 'string', 'boolean', 'object'] [9007199254740993, <NA>] 2",
      "[Datetime(time_unit='us', time_zone='UTC'), Int64, Float64, String, Boolean, Decimal(precision=10, scale=2)] [9007199254740993, None] [Decimal('0.10'), None]",
      "[Decimal('9007199254740993')] [9007199254740993]",
      '2',
      '2',
      "[{'c': 4, 'n': 18014398509481986, 't': datetime.datetime(2026, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)}]",
      '(0, 2) (0, 2)',
      'True [9007199254740993, None]',
      '',
    ])
  })

  it.runIf(hasFrames)('sends the index of a frame, and refuses what would become something else', async () => {
    const program = `
import numpy, pandas
def told(name, frame):
    try:
        node.ingest('acme/' + name, frame, create=True, controls={'eventTime': 'received'})
        print(node.query('select * exclude ("offset", op, system_time, event_time) from acme.' + name + ' order by 1').rows())
    except Exception as error: print(type(error).__name__, str(error)[:70])
at = pandas.to_datetime(['2024-01-01T00:00Z', '2024-01-01T00:10Z'])
whole = pandas.DataFrame({'c': [20.5, 21.0]})
told('times', whole.set_index(at))
told('named', whole.set_index(at.rename('at')))
told('levels', whole.set_index(pandas.MultiIndex.from_tuples([('a', 1), ('b', 2)], names=['x', 'y'])))
told('numbered', whole[1:])
told('texts', whole.set_index(pandas.Index(['a', 'b'])))
told('keys', pandas.concat([whole, whole]))
told('unnamed', whole.set_index(pandas.MultiIndex.from_tuples([('a', 1), ('b', 2)])))
told('taken', whole.set_index(pandas.Index([1, 2], name='c')))
told('twice', pandas.DataFrame([[1, 2]], columns=['a', 'a']))
told('wide', pandas.DataFrame([[1, 2]], columns=pandas.MultiIndex.from_tuples([('a', 'x'), ('a', 'y')])))
told('periods', pandas.DataFrame({'c': pandas.period_range('2024', periods=2, freq='M')}))
told('spans', pandas.DataFrame({'c': pandas.to_timedelta(['1s', '2s'])}))
told('odd', pandas.DataFrame({'c': pandas.Categorical(['a', None]), 'b': [b'x', None], 't': [at[0], pandas.NaT], 'n': pandas.array([2**60, pandas.NA], dtype='Int64')}))
told('datetime64', [{'t': numpy.datetime64('2024-01-01T00:00:00.000000001')}])
told('array', [{'t': numpy.array([7])}])
told('missing', [{'t': value, 'd': decimal.Decimal(1)} for value in (at[0], pandas.NaT, pandas.NA, numpy.datetime64('NaT'), None)])
told('scalars', [{'i': numpy.int64(2**60), 'f': numpy.float32(0.5), 'b': numpy.bool_(True)}])
`
    expect((await python(program)).split('\n')).toEqual([
      "[{'index': datetime.datetime(2024, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), 'c': 20.5}, {'index': datetime.datetime(2024, 1, 1, 0, 10, tzinfo=datetime.timezone.utc), 'c': 21.0}]",
      "[{'at': datetime.datetime(2024, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), 'c': 20.5}, {'at': datetime.datetime(2024, 1, 1, 0, 10, tzinfo=datetime.timezone.utc), 'c': 21.0}]",
      "[{'x': 'a', 'y': 1, 'c': 20.5}, {'x': 'b', 'y': 2, 'c': 21.0}]",
      "[{'c': 21.0}]",
      "[{'index': 'a', 'c': 20.5}, {'index': 'b', 'c': 21.0}]",
      "ValueError the index of the frame has no name: frame.rename_axis('id') makes it a",
      'ValueError level 0 of the index has no name: frame.rename_axis([...]) gives names',
      'ValueError cannot insert c, already exists',
      "ValueError the frame has two columns 'a'",
      "ValueError the column ('a', 'x') has a name of several levels: frame.columns = [.",
      "TypeError the column 'c' holds values of the type period[M], which no dataset ha",
      'NodeError The column "c" is a duration, for which no column has a type. Nothing ',
      "[{'c': 'a', 'b': b'x', 't': datetime.datetime(2024, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), 'n': 1152921504606846976}, {'c': None, 'b': None, 't': None, 'n': None}]",
      'TypeError datetime64 has no form in JSON',
      'TypeError ndarray has no form in JSON',
      `[{'t': datetime.datetime(2024, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), 'd': 1}${", {'t': None, 'd': 1}".repeat(4)}]`,
      "[{'i': 1152921504606846976, 'f': 0.5, 'b': True}]",
      '',
    ])
  })

  it.runIf(hasFrames)('names files as what reads them calls them', async () => {
    const program = `
import pandas, polars, pyarrow
folder = tempfile.mkdtemp()
read = {'parquet': polars.read_parquet, 'csv': polars.read_csv, 'ndjson': polars.read_ndjson, 'arrows': polars.read_ipc_stream}
for ending, reader in read.items():
    path = os.path.join(folder, 'rows.' + ending)
    node.export('acme/rows', path)
    print(ending, len(reader(path)))
`
    expect(await python(program)).toBe('parquet 2\ncsv 2\nndjson 2\narrows 2\n')
  })

  it('does what its README shows', async () => {
    const readme = readFileSync(fileURLToPath(new URL('../../clients/python/README.md', import.meta.url)), 'utf8')
    const [first = '', second = '', third = ''] = [...readme.matchAll(/```python\n([\s\S]*?)```/g)].map(
      ([, block = '']) => block,
    )
    const node = `proofstream.Node("${live.node.url}", token="${live.adminToken}")`
    const program = `${first}${second}${third}`
      .replace(/proofstream\.Node\(.*\)/, node)
      .replace(
        'print(answer.to_pandas())',
        hasFrames ? 'print(answer.to_pandas().to_csv(index=False))' : 'print(answer.rows())',
      )
      .replaceAll('"answer.json"', 'os.path.join(tempfile.gettempdir(), "proofstream-readme-answer.json")')
    const said = await python(program)
    expect(said).toContain(hasFrames ? 's1,21.5' : "'warmest': 21.5")
    expect(said).toContain(live.node.did)
    expect(said).toContain('? Unchanged since it was signed by a key that nobody here knows\n  ')
    expect(said).toContain('\n0 verified [')
  })
})
