// Rows in files: `query -o FILE`, `--all`, `tail -o FILE`, `export`, and values for parameters, against a stub.

import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fileFormOf, fileForms } from '../../src/cli/file-forms.ts'
import { ArrayOfLines } from '../../src/cli/save.ts'
import { outputsBut } from '../../src/app/formats.ts'
import { type Finished, runCommand } from '../helpers/run-node.ts'
import { problem, startStub } from './stub-node.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-save-'))
const run = (...args: string[]): Promise<Finished> => runCommand(args, { cwd: folder })
const file = (name: string): Promise<string> => readFile(join(folder, name), 'utf8')

const ndjson = '{"a":1.0}\n{"a":null}\n'

describe.concurrent('query', () => {
  test.each([
    ['all.csv', 'Csv', 'a\n1.0\n'],
    ['all.NDJSON', 'NdJson', ndjson],
    ['all.parquet', 'Parquet', 'PAR1…PAR1'],
    ['all.arrows', 'Arrow', 'ARROW'],
    ['all.geojson', 'GeoJson', '{}'],
    ['all.geojsonl', 'NdGeoJson', '{}\n'],
  ])('-o %s asks for %s and saves it byte for byte', async (name, dataFormat, body) => {
    await using stub = await startStub({ 'POST /query': { body } })
    const { code, stdout, stderr } = await run('query', 'select 1', '-o', name, '--server', stub.url)
    expect({ code, stdout, saved: await file(name) }).toEqual({ code: 0, stdout: '', saved: body })
    expect(stderr).toMatch(new RegExp(`^saved ${name}: 0\\.\\d+ MB in \\d+\\.\\d s\n$`))
    expect(JSON.parse(stub.asked[0]?.body ?? '')).toEqual({ query: 'select 1', dataFormat })
  })

  test('-o rows.json makes one array of the lines', async () => {
    await using stub = await startStub({ 'POST /query': { body: ndjson } })
    await run('query', 'select 1', '-o', 'rows.json', '--server', stub.url)
    expect(await file('rows.json')).toBe('[\n{"a":1.0},\n{"a":null}\n]\n')
  })

  test('--all streams to stdout, in the form that is asked for', async () => {
    await using stub = await startStub({ 'POST /query': { body: ndjson } })
    expect((await run('query', 'select 1', '--all', '--server', stub.url)).stdout).toBe(ndjson)
    const json = await run('query', 'select 1', '--all', '-o', 'json', '--server', stub.url)
    expect(json.stdout).toBe('[\n{"a":1.0},\n{"a":null}\n]\n')
    await run('query', 'select 1', '--all', '-o', 'csv', '--server', stub.url)
    expect(stub.asked.map(({ body }) => JSON.parse(body).dataFormat)).toEqual(['NdJson', 'NdJson', 'Csv'])
  })

  test('says when rows were left out, which is known at the end', async () => {
    await using stub = await startStub({ 'POST /query': { body: 'a\n', trailers: { 'Result-Truncated': 'true' } } })
    const { stderr } = await run('query', 'select 1', '-n', '1', '-o', 'cut.csv', '--server', stub.url)
    expect(stderr).toMatch(/\ncut by limit 1: .*\n$/)
    expect(JSON.parse(stub.asked[0]?.body ?? '')).toMatchObject({ limit: 1 })
  })

  test.each([
    ['--all', '--proof', 'p.json'],
    ['--limit', '1', '--all', '-o', 'x.csv'],
    ['--all', '-n', '5'],
    ['--all', '-o', 'table'],
    ['-o', 'rows.xls'],
    ['-o', 'xml'],
  ])('%s %s %s is a usage error', async (...args) => {
    expect((await run('query', 'select 1', ...args.filter(Boolean), '--server', 'http://127.0.0.1:1')).code).toBe(2)
  })
})

describe.concurrent('a file', () => {
  test('is not there when the connection broke, and one that was there stays', async () => {
    await using stub = await startStub({ 'POST /query': { body: 'a\n1\n', isCut: true } })
    await writeFile(join(folder, 'kept.csv'), 'old')
    const { code, stderr } = await run('query', 'select 1', '-o', 'kept.csv', '--server', stub.url)
    expect({ code, kept: await file('kept.csv') }).toEqual({ code: 6, kept: 'old' })
    expect(stderr).toContain('was lost')
    expect((await readdir(folder)).filter((name) => name.startsWith('kept.csv'))).toEqual(['kept.csv'])
  })

  test('is not there when the node refuses', async () => {
    const refusal = problem(400, 'SqlSyntax', 'No.', { position: { offset: 7, line: 1, column: 8 } })
    await using stub = await startStub({ 'POST /query': refusal })
    const { code, stderr } = await run('query', 'select x', '-o', 'none.csv', '--server', stub.url)
    expect(code).toBe(5)
    expect(stderr).toContain('select x')
    expect((await readdir(folder)).filter((name) => name.startsWith('none'))).toEqual([])
  })

  test('that cannot be written ends with 9', async () => {
    await using stub = await startStub({ 'POST /query': { body: 'a\n' } })
    const { code, stderr } = await run('query', 'select 1', '-o', 'no/such/x.csv', '--server', stub.url)
    expect(code).toBe(9)
    expect(stderr).toContain('no/such/x.csv cannot be written')
  })

  test('is for rows alone', async () => {
    const { code, stderr } = await run('dataset', 'list', '-o', 'x.csv', '--server', 'http://127.0.0.1:1')
    expect(code).toBe(2)
    expect(stderr).toContain('list writes no files')
  })

  test('of the newest rows comes from tail', async () => {
    await using stub = await startStub({ 'GET /me/lab/tail': { body: 'a\n' } })
    const { code } = await run('tail', 'me/lab', '-n', '3', '-o', 'tail.csv', '--server', stub.url)
    expect([code, await file('tail.csv')]).toEqual([0, 'a\n'])
    expect(Object.fromEntries(stub.asked[0]?.query ?? [])).toEqual({ limit: '3', dataFormat: 'Csv' })
  })
})

describe.concurrent('export', () => {
  test('asks for what the flags say', async () => {
    await using stub = await startStub({ 'GET /me/lab/export': { body: 'PAR1' } })
    const flags = ['--at', 'f1620aa', '--columns', 'a,b', '--where', 'a > 1', '--no-system', '--geometry', 'g']
    await run('export', 'me/lab', '-o', 'lab.parquet', ...flags, '--server', stub.url)
    expect(await file('lab.parquet')).toBe('PAR1')
    expect(Object.fromEntries(stub.asked[0]?.query ?? [])).toEqual({
      format: 'Parquet',
      at: 'f1620aa',
      columns: 'a,b',
      where: 'a > 1',
      system: 'false',
      geometry: 'g',
    })
  })

  test('goes to a pipe as NDJSON, or as --format says', async () => {
    await using stub = await startStub({ 'GET /me/lab/export': { body: ndjson } })
    expect((await run('export', 'me/lab', '--server', stub.url)).stdout).toBe(ndjson)
    await run('export', 'me/lab', '-f', 'arrows', '--system', '--server', stub.url)
    await run('export', 'me/lab', '-f', 'csv', '-o', 'data.json', '--server', stub.url)
    const asked = stub.asked.map(({ query }) => [query.get('format'), query.get('system')])
    expect(asked).toEqual([
      ['NdJson', null],
      ['Arrow', 'true'],
      ['Csv', null],
    ])
    expect(await file('data.json')).toBe(ndjson)
  })

  test('of a table, or in an unknown form, is a usage error', async () => {
    expect((await run('export', 'me/lab', '-o', 'table', '--server', 'http://127.0.0.1:1')).code).toBe(2)
    expect((await run('export', 'me/lab', '-f', 'xls', '--server', 'http://127.0.0.1:1')).code).toBe(2)
  })
})

describe.concurrent('parameters', () => {
  const asked = async (...flags: string[]): Promise<string> => {
    await using stub = await startStub({ 'POST /query': { body: '{"output":{"data":[],"schema":{"fields":[]}}}' } })
    const { code } = await run('query', 'select 1', ...flags.flatMap((flag) => ['--param', flag]), '--server', stub.url)
    return code === 0 ? (/"parameters":(.*),"dataFormat"/.exec(stub.asked[0]?.body ?? '')?.[1] ?? '') : `exit ${code}`
  }

  test.each([
    [['city=Oslo', 'n:=9007199254740993'], '{"city":"Oslo","n":9007199254740993}'],
    [['2:=1.50', '1=a=b:=c'], '["a=b:=c",1.50]'],
    [['$x:=null', 'y='], '{"x":null,"y":""}'],
    [['7=x'], '{"7":"x"}'],
    [[], ''],
    [['city'], 'exit 2'],
    [['n:=three'], 'exit 2'],
    [['=x'], 'exit 2'],
    [['a=1', 'a=2'], 'exit 2'],
  ])('%j are %s', async (flags, expected) => {
    expect(await asked(...flags)).toBe(expected)
  })
})

test('lines become an array wherever pieces are cut', async () => {
  const value = fc.json({ noUnicodeString: false } as object).map((text) => JSON.stringify(JSON.parse(text)))
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 8 }), fc.array(fc.nat(200)), async (values, cuts) => {
      const bytes = Buffer.from(values.map((text) => `${text}\n`).join(''))
      const ends = [...new Set(cuts.map((at) => Math.min(at, bytes.length)))].sort((a, b) => a - b)
      const pieces = [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
      const text = (await buffer(Readable.from(pieces).pipe(new ArrayOfLines()))).toString()
      expect(JSON.parse(text)).toEqual(values.map((one) => JSON.parse(one)))
    }),
    { numRuns: 100 },
  )
})

test('each form is one that nodes write, under the extension that they give it', () => {
  const { files } = outputsBut([])
  for (const { name, extension } of files) {
    expect(fileFormOf(extension)).toMatchObject({ dataFormat: name })
  }
  for (const { dataFormat } of fileForms) expect(files.map(({ name }) => name)).toContain(dataFormat)
})

test('each form has names of its own', () => {
  const extensions = fileForms.flatMap((form) => form.extensions)
  expect(new Set(extensions).size).toBe(extensions.length)
})
