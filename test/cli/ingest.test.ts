// `ingest`: one key however often it is sent, formats, creation, several files.

import { createHash } from 'node:crypto'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type Finished, type RunOptions, runCommand } from '../helpers/run-node.ts'
import { demoFile, sample } from '../helpers/samples.ts'
import { repository } from '../helpers/sources.ts'
import { type Asked, problem, type Replies, type Reply, receipt, startStub, type StubNode } from './stub-node.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-ingest-'))
const there = { 'GET /me/lab': { body: { columns: [] } } } satisfies Replies
/** The beginning of one. */
const workbook = Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26), Buffer.from('[Content_Types].xml')])
const rows = '{"temp":1}\n{"temp":2}\n'

function ingest(url: string, args: readonly string[], options: RunOptions = { input: rows }): Promise<Finished> {
  return runCommand(['ingest', 'me/lab', ...args, '--server', url], { cwd: folder, ...options })
}

/** A node that has the dataset and answers posts to it. */
function taking(reply: Replies[string]): Promise<StubNode> {
  return startStub({ ...there, 'POST /me/lab/ingest': reply })
}

function posted(stub: StubNode): readonly Asked[] {
  return stub.of('POST', '/me/lab/ingest')
}

describe.concurrent('ingest', () => {
  test('says of a file that is too large for one batch how it goes in several, where it can be cut', async () => {
    const hint = 'Send smaller batches.'
    await using stub = await taking(problem(413, 'BodyTooLarge', 'The body is larger than 9 bytes.', { hint }))
    await writeFile(join(folder, "a day's.ndjson"), rows)
    await writeFile(join(folder, 'day.ndjson.gz'), gzipSync(rows))
    const cut = await ingest(stub.url, ["a day's.ndjson"])
    expect(cut.code).toBe(5)
    const command = "cat 'a day'\\''s.ndjson' | npx proofstream ingest me/lab --format ndjson"
    expect(cut.stderr).toContain(`hint: ${hint} What comes through a pipe goes in batches: ${command}\n`)
    for (const args of [['day.ndjson.gz'], []]) {
      expect((await ingest(stub.url, args)).stderr).toContain(`hint: ${hint}\n`)
    }
  })

  test('sends stdin as NDJSON, waits for the block and prints the receipt', async () => {
    await using stub = await taking({ body: receipt() })
    const { code, stdout, stderr } = await ingest(stub.url, [])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual(receipt())
    const [sent] = posted(stub)
    expect(sent?.body).toBe(rows)
    expect(sent?.headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'content-length': String(rows.length),
      prefer: 'wait=30',
    })
    expect(sent?.headers['idempotency-key']).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect(sent?.query.size).toBe(0)
  })

  test('repeats what may succeed later, under one key, and says so', async () => {
    await using stub = await taking([
      { ...problem(503, 'Saturated', 'The node is busy.'), headers: { 'retry-after': '0' } },
      'lost',
      problem(500, 'OutcomeUnknown', 'The outcome is unknown.'),
      { body: receipt(), headers: { 'idempotent-replayed': 'true' } },
    ])
    const { code, stdout, stderr } = await ingest(stub.url, ['-o', 'table'])
    expect(code).toBe(0)
    expect(stdout).toContain('stdin: 2 rows committed in block 3 (f1620aaaaaaaaaaa…), offsets 5–6 (an earlier try')
    expect(stderr.match(/Trying again/g)).toHaveLength(3)
    const sent = posted(stub)
    expect(sent.map(({ body }) => body)).toEqual([rows, rows, rows, rows])
    expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  })

  test('gives up after the tries it has, and names the key that makes another one safe', async () => {
    await using stub = await taking({ ...problem(429, 'QuotaExceeded', 'Enough.'), headers: { 'retry-after': '0' } })
    const { code, stderr } = await ingest(stub.url, ['--retries', '2'])
    const sent = posted(stub)
    expect({ code, tries: sent.length }).toEqual({ code: 6, tries: 3 })
    expect(stderr).toContain(`--key ${String(sent[0]?.headers['idempotency-key'])}`)
  })

  test('does not repeat what was refused', async () => {
    await using stub = await taking(problem(409, 'IdempotencyKeyReused', 'The key was used for another body.'))
    const { code } = await ingest(stub.url, ['--key', 'k1'])
    expect(code).toBe(8)
    expect(posted(stub).map(({ headers }) => headers['idempotency-key'])).toEqual(['k1'])
  })

  test('makes a missing dataset, and says with which columns', async () => {
    await using stub = await startStub({
      'GET /me/lab': problem(404, 'DatasetNotFound', 'There is none.'),
      'POST /me/lab/ingest': { body: receipt({ columns: [{ name: 'temp', type: 'Float64', nulls: 0, value: 1 }] }) },
    })
    await writeFile(join(folder, 'a.csv'), 'temp\n1\n')
    await writeFile(join(folder, 'b.json'), '[]')
    const { code, stderr } = await ingest(stub.url, ['a.csv', 'b.json'])
    expect(code).toBe(0)
    expect(stderr).toBe('created dataset me/lab: temp Float64\n')
    const sent = posted(stub)
    expect(sent.map(({ query }) => query.get('create'))).toEqual(['true', null])
    expect(sent.map(({ headers }) => headers['content-type'])).toEqual(['text/csv', 'application/json'])
    expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).toBe(2)
  })

  test('tells a person what became of a batch and of a table in a line each, however wide they are', async () => {
    const columns = Array.from({ length: 1500 }, (_, at) => ({ name: `c${at}`, type: 'Int64', nulls: 0, value: 1 }))
    const id = 'A'.repeat(300)
    await using stub = await startStub({
      'GET /me/lab': problem(404, 'DatasetNotFound', 'There is none.'),
      'POST /me/lab/ingest': { body: receipt({ receiptId: id, columns }) },
    })
    const told = await ingest(stub.url, ['-o', 'table'])
    expect(told.stderr).toMatch(/^created dataset me\/lab: c0 Int64, .*, c7 Int64, … and 1492 more\n$/)
    expect(told.stdout).toMatch(/^stdin: .* committed in block .*\n$/)
    expect(told.stdout).not.toContain(id)
    const whole = await ingest(stub.url, ['-o', 'json'])
    expect(JSON.parse(whole.stdout)).toMatchObject([{ receiptId: id, columns }])
    await using slow = await taking({ body: receipt({ receiptId: id, status: 'accepted', block: undefined }) })
    expect((await ingest(slow.url, ['--no-wait', '-o', 'table'])).stdout).toContain(`\n  receipt ${id}\n`)
  })

  test('with --no-create makes nothing', async () => {
    await using stub = await startStub({ 'GET /me/lab': problem(404, 'DatasetNotFound', 'There is none.') })
    const { code } = await ingest(stub.url, ['--no-create'])
    expect({ code, sent: posted(stub).length }).toEqual({ code: 3, sent: 0 })
  })

  test('sends although the token may not read, as long as it may write', async () => {
    await using stub = await startStub({
      'GET /me/lab': problem(403, 'Forbidden', 'The token lacks the scope read.'),
      'POST /me/lab/ingest': { body: receipt() },
    })
    expect((await ingest(stub.url, [])).code).toBe(0)
  })

  test('takes format and encoding from the name, and the parameters from the options', async () => {
    await using stub = await taking({ body: receipt() })
    await writeFile(join(folder, 'c.CSV.gz'), gzipSync('1\n2\n'))
    const options = '--header absent --unknown-fields ignore --time-zone UTC --set eventTimeUnit=ms'.split(' ')
    const { code } = await ingest(stub.url, ['c.CSV.gz', '--no-wait', ...options])
    expect(code).toBe(0)
    const [sent] = posted(stub)
    expect(sent?.headers).toMatchObject({
      'content-type': 'text/csv; header=absent',
      'content-encoding': 'gzip',
      prefer: 'respond-async',
    })
    expect(Object.fromEntries(sent?.query ?? [])).toEqual({
      unknownFields: 'ignore',
      timeZone: 'UTC',
      eventTimeUnit: 'ms',
    })
  })

  test.each([
    ['--set eventtime=x', "--set 'eventtime=x' names no parameter of ingest."],
    ['--set dryRun=true', "--set 'dryRun=true' names no parameter of ingest."],
    ['--set eventTime=a --event-time b', 'eventTime is given more than once.'],
  ])('refuses %s', async (flags, message) => {
    await using stub = await taking({ body: receipt() })
    const { code, stderr } = await ingest(stub.url, ['a.csv', ...flags.split(' ')])
    expect([code, posted(stub).length]).toEqual([2, 0])
    expect(stderr).toContain(message)
  })

  test('asks after batches that were not in a block yet, and ends with 8 when one was rejected', async () => {
    const [first, second] = ['A'.repeat(40), 'B'.repeat(40)]
    await writeFile(join(folder, 'd.ndjson'), rows)
    const accepted = (receiptId: string): Reply => ({
      status: 202,
      body: receipt({ receiptId, status: 'accepted', block: undefined, offsets: undefined }),
    })
    await using stub = await startStub({
      ...there,
      'POST /me/lab/ingest': [accepted(first), accepted(second)],
      [`GET /receipts/${first}`]: { body: receipt({ receiptId: first }) },
      [`GET /receipts/${second}`]: {
        body: receipt({
          receiptId: second,
          status: 'rejected',
          errors: [{ kind: 'SchemaConflict', message: 'The schema changed.' }],
        }),
      },
    })
    const { code, stdout } = await ingest(stub.url, ['d.ndjson', 'd.ndjson', '-o', 'csv'])
    expect(code).toBe(8)
    expect(stdout.split('\n').map((line) => line.split(',')[1])).toEqual(['status', 'committed', 'rejected', undefined])
  })

  test('prints what was stored before a file was refused', async () => {
    await writeFile(join(folder, 'e.ndjson'), rows)
    await using stub = await taking([{ body: receipt() }, problem(422, 'RecordsDoNotFit', 'No.')])
    const { code, stdout } = await ingest(stub.url, ['e.ndjson', 'e.ndjson'])
    expect(code).toBe(5)
    expect(stdout.trim().split('\n')).toHaveLength(1)
  })

  test('takes an answer that comes while a large file is still being sent', async () => {
    const large = join(folder, 'large.ndjson')
    await writeFile(large, rows.repeat(1_000_000))
    const { createServer } = await import('node:http')
    const server = createServer((request, response) => {
      if (request.method === 'GET') response.end('{}')
      else {
        const { status, body } = problem(422, 'RecordsDoNotFit', 'Line 1 does not fit.')
        response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
        response.end(JSON.stringify(body))
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const { code, stderr } = await ingest(`http://127.0.0.1:${port}`, ['large.ndjson'])
    server.closeAllConnections()
    server.close()
    expect(stderr).toContain('Line 1 does not fit.')
    expect(code).toBe(5)
  })

  test('when it is interrupted ends with 130 and names the key', async () => {
    let interrupt = (): unknown => undefined
    await using stub = await taking(() => {
      interrupt()
      return { ...problem(503, 'Saturated', 'Busy.'), headers: { 'retry-after': '20' } }
    })
    const { code, stderr } = await ingest(stub.url, [], {
      input: rows,
      onStart: (child) => {
        interrupt = () => child.kill('SIGINT')
      },
    })
    expect(code).toBe(130)
    expect(stderr).toContain(`--key ${String(posted(stub)[0]?.headers['idempotency-key'])}`)
  })

  test('sends a pipe that does not end in batches, each under its own key', async () => {
    await using stub = await taking({ body: receipt() })
    async function* readings(): AsyncGenerator<string> {
      yield '{"n":1}\n{"n":2}\n{"n":3}\n\n{"n"'
      // Nothing more comes until what is there was sent: two by number, one by age.
      while (posted(stub).length < 2) await setTimeout(20)
      yield ':4}\n'
      while (posted(stub).length < 3) await setTimeout(20)
      yield '{"n":5}'
    }
    const input = Readable.from(readings(), { objectMode: false })
    const { code, stdout } = await ingest(stub.url, ['--batch-rows', '2', '--batch-age', '200ms'], { input })
    expect(code).toBe(0)
    const sent = posted(stub)
    expect(sent.map(({ body }) => body)).toEqual(['{"n":1}\n{"n":2}\n', '{"n":3}\n\n', '{"n":4}\n', '{"n":5}\n'])
    expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).toBe(4)
    expect(stdout.trim().split('\n')).toHaveLength(4)
  })

  test('repeats the header of piped CSV in each batch, where the node says that it is one', async () => {
    await using stub = await taking({ body: receipt({ csvHeader: 'present' }) })
    const input = 'name,"a\nb"\nx,1\ny,"2\n3"\nz,4\n'
    const { code } = await ingest(stub.url, ['--format', 'csv', '--batch-rows', '2'], { input })
    expect(code).toBe(0)
    const sent = posted(stub)
    expect(sent.map(({ body, headers }) => [headers['content-type'], body])).toEqual([
      ['text/csv', 'name,"a\nb"\nx,1\ny,"2\n3"\n'],
      ['text/csv; header=present', 'name,"a\nb"\nz,4\n'],
    ])
  })

  test('reads a pipe by the rules of its dataset, and skips lines once', async () => {
    const ingestRules = { delimiter: ';', trim: true, skipRows: '1,3' }
    await using stub = await startStub({
      'GET /me/lab': { body: { columns: [], ingest: ingestRules } },
      'POST /me/lab/ingest': { body: receipt({ csvHeader: 'present' }) },
    })
    const input = 'title\n\nm;s\na;b\n1; "2\n3"\n4;5" wide\n6;7\n'
    expect((await ingest(stub.url, ['--format', 'csv', '--batch-rows', '1'], { input })).code).toBe(0)
    expect(posted(stub).map(({ body, query }) => [query.get('skipRows'), body])).toEqual([
      [null, 'title\n\nm;s\na;b\n1; "2\n3"\n'],
      ['0', 'a;b\n4;5" wide\n'],
      ['0', 'a;b\n6;7\n'],
    ])
  })

  test('tells what a node warns of, each kind once', async () => {
    const warned = (places: string): Reply => ({ body: receipt({ warnings: [`Digits were cut off (${places}).`] }) })
    await using stub = await taking([warned('record 1'), warned('7 times, first in record 0')])
    const { code, stdout, stderr } = await ingest(stub.url, ['--batch-rows', '1'])
    expect([code, stdout.trim().split('\n').length]).toEqual([0, posted(stub).length])
    expect(stderr.match(/^warning: .*$/gm)).toEqual(['warning: stdin, batch 1: Digits were cut off (record 1).'])
  })

  test('keeps a pipe whole under --key, and what was sent when a later batch is refused', async () => {
    await using whole = await taking({ body: receipt() })
    await ingest(whole.url, ['--batch-rows', '1', '--key', 'k'])
    expect(posted(whole).map(({ body }) => body)).toEqual([rows])
    await using stub = await taking([{ body: receipt() }, problem(422, 'RecordsDoNotFit', 'Line 1 does not fit.')])
    const { code, stdout, stderr } = await ingest(stub.url, ['--batch-rows', '1'])
    expect([code, stdout.trim().split('\n').length]).toEqual([5, 1])
    expect(stderr).toContain('Line 1 does not fit.')
  })

  test('looks into files named .json: GeoJSON goes out as such', async () => {
    await using stub = await taking({ body: receipt() })
    await writeFile(join(folder, 'quakes.json'), demoFile('earthquakes.geojson'))
    await writeFile(join(folder, 'penguins.json'), sample('penguins.json'))
    const sent = await ingest(stub.url, ['quakes.json'])
    expect(sent.code).toBe(0)
    expect(sent.stderr).toContain('holds GeoJSON')
    await ingest(stub.url, ['quakes.json', '--format', 'json'])
    await ingest(stub.url, ['penguins.json'])
    const types = posted(stub).map(({ headers }) => headers['content-type'])
    expect(types).toEqual(['application/geo+json', 'application/json', 'application/json'])
  })

  test('sends the digest of what it sends', async () => {
    await using stub = await taking({ body: receipt({ csvHeader: 'present' }) })
    await writeFile(join(folder, 'digest.csv'), 'a,b\n1,2\n')
    await ingest(stub.url, ['digest.csv'])
    await ingest(stub.url, ['--format', 'csv'], { input: 'a,b\n1,2\n' })
    const expected = `sha-256=:${createHash('sha256').update('a,b\n1,2\n').digest('base64')}:`
    expect(posted(stub).map(({ headers }) => headers['content-digest'])).toEqual([expected, expected])
  })

  test('finds out what a file is where its name does not say', async () => {
    await using stub = await taking({ body: receipt() })
    const zip = await readFile(join(repository, 'test/fixtures/shapefile/values.zip'))
    const files: readonly (readonly [string, string | Uint8Array, string, string | undefined])[] = [
      ['packed.csv', gzipSync('a,b\n1,2\n'), 'text/csv', 'gzip'],
      ['packed.json', gzipSync('{"type":"FeatureCollection","features":[]}'), 'application/geo+json', 'gzip'],
      ['named.geojson.gz', gzipSync('{"type":"FeatureCollection","features":[]}'), 'application/geo+json', 'gzip'],
      ['cities.zip', zip, 'application/vnd.esri.shapefile', undefined],
      ['cities', zip, 'application/vnd.esri.shapefile', undefined],
      ['rows.tsv', 'a\tb\n1\t2\n', 'text/tab-separated-values', undefined],
      ['export.txt', 'a\tb\n1\t2\n', 'text/csv', undefined],
      ['logger.dat', 'a,b\n1,2\n', 'text/csv', undefined],
      ['rows.tab', 'a\tb\n1\t2\n', 'text/tab-separated-values', undefined],
      ['trips.parquet', 'PAR1....PAR1', 'application/vnd.apache.parquet', undefined],
      ['trips', 'PAR1....PAR1', 'application/vnd.apache.parquet', undefined],
      ['trips.feather', 'ARROW1', 'application/vnd.apache.arrow.stream', undefined],
      ['book', workbook, 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', undefined],
      ['one-column.csv', 'note\na;b\nc;d\n', 'text/csv', undefined],
    ]
    for (const [name, content, type, encoding] of files) {
      await writeFile(join(folder, name), content)
      const { code, stderr } = await ingest(stub.url, [name])
      expect([name, code, stderr.includes('gzip')]).toEqual([name, 0, encoding === 'gzip' && !name.endsWith('.gz')])
      const { headers } = posted(stub).at(-1) ?? {}
      expect([headers?.['content-type'], headers?.['content-encoding']]).toEqual([type, encoding])
    }
  })

  test('refuses what no node reads in the words of the node', async () => {
    await using stub = await taking({ body: receipt() })
    const files: readonly (readonly [string, string | Uint8Array, string])[] = [
      [
        'book.xls',
        Buffer.from('d0cf11e0a1b11ae100', 'hex'),
        'It is an old or encrypted Excel workbook: save it as .xlsx',
      ],
      ['places.gpkg', 'SQLite format 3\0', 'ogr2ogr -f GeoJSONSeq'],
      ['places.fgb', 'fgb\x03fgb', 'It is FlatGeobuf'],
      ['places.kml', '<?xml version="1.0"?><kml>', 'and send that with --format ndgeojson.'],
      ['places.shp', Buffer.from('0000270a00', 'hex'), 'zip it with its .dbf'],
    ]
    for (const [name, content, hint] of files) {
      await writeFile(join(folder, name), content)
      const { code, stderr } = await ingest(stub.url, [name])
      expect([name, code]).toEqual([name, 5])
      expect(stderr).toContain(`error: ${name} is of a format that is not read.`)
      expect(stderr).toContain(hint)
    }
    expect(posted(stub)).toEqual([])
  })

  test('names layer and character set of a shapefile', async () => {
    await using stub = await taking({ body: receipt() })
    const zip = join(repository, 'test/fixtures/shapefile/values.zip')
    await ingest(stub.url, [zip, '--layer', 'values', '--charset', 'windows-1252'])
    const { query } = posted(stub)[0] ?? {}
    expect([query?.get('layer'), query?.get('charset')]).toEqual(['values', 'windows-1252'])
  })
})
