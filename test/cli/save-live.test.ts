// Files that the command line saves from a real node: whole, in their formats, and readable by others.

import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, test } from 'vitest'
import { fileForms } from '../../src/cli/file-forms.ts'
import { liveNode } from '../helpers/live-node.ts'
import { type Finished, runCommand } from '../helpers/run-node.ts'

const live = await liveNode()
const folder = await mkdtemp(join(tmpdir(), 'proofstream-saved-'))
await writeFile(join(folder, 'token'), live.adminToken)
const count = 2_500
const rows = Array.from({ length: count }, (_, k) => ({ k, name: `n"${k},`, share: k / 8 }))
await live.ingest('acme/many', rows, '?create=true&integers=int64')
const point = '{"type":"Feature","geometry":{"type":"Point","coordinates":[1.50,2]},"properties":{"a":1}}'
await live.call('/acme/points/ingest?create=true', {
  method: 'POST',
  headers: { 'content-type': 'application/x-ndgeojson' },
  body: point,
})

const run = (...args: string[]): Promise<Finished> =>
  runCommand([...args, '--server', live.node.url, '--token-file', 'token'], { cwd: folder })
const text = (name: string): Promise<string> => readFile(join(folder, name), 'utf8')
const trusted = await (await DuckDBInstance.create(':memory:')).connect()
const ask = async (sql: string): Promise<unknown> => (await (await trusted.run(sql)).getRowsJson())[0]

describe('export', () => {
  test('saves all rows, as other readers count them', async () => {
    for (const name of ['all.parquet', 'all.csv', 'all.ndjson', 'all.json']) {
      const { code, stdout } = await run('export', 'acme/many', '-o', name)
      expect([code, stdout]).toEqual([0, ''])
      const sum = 'count(*)::VARCHAR, sum(k)::VARCHAR, sum(share)::VARCHAR, max(name)'
      expect(await ask(`SELECT ${sum} FROM '${join(folder, name)}'`)).toEqual([
        '2500',
        '3123750',
        '390468.75',
        'n"999,',
      ])
    }
    expect(Object.keys(JSON.parse(await text('all.json'))[0])).toHaveLength(7)
  })

  test.each(fileForms.map(({ extensions }) => extensions[0]))('knows a file that ends in %s', async (extension) => {
    const { code } = await run('export', 'acme/points', '-o', `form.${extension}`)
    expect([code, (await stat(join(folder, `form.${extension}`))).size > 0]).toEqual([0, true])
  })
})

describe('query', () => {
  test('saves all rows where it would show a hundred', async () => {
    const sql = 'select k from "acme/many" where k >= $least order by k'
    const { stderr } = await run('query', sql, '--param', 'least:=100', '-o', 'rows.ndjson')
    expect(stderr).toMatch(/^saved rows\.ndjson: /)
    expect((await text('rows.ndjson')).split('\n')).toHaveLength(2_401)
    expect((await run('query', sql, '--param', 'least=2498', '--all', '-o', 'csv')).stdout).toBe(
      'k\r\n2498\r\n2499\r\n',
    )
    const shown = await run('query', sql, '--param', 'least:=100')
    expect(shown.stdout.split('\n')).toHaveLength(101)
  })

  test('says when a file was cut', async () => {
    const { stderr } = await run('query', 'select k from "acme/many" order by k', '-n', '2000', '-o', 'cut.csv')
    expect(stderr).toContain('cut by limit 2000')
    const { stderr: whole } = await run(
      'query',
      'select k from "acme/many" order by k',
      '-n',
      '2500',
      '-o',
      'whole.csv',
    )
    expect(whole).not.toContain('cut')
  })

  test('saves the signed answer of the same blocks beside the file', async () => {
    const sql = 'select k, name from acme.many where k < $most order by k'
    const both = await run('query', sql, '--param', 'most:=1000', '-o', 'both.parquet', '--proof', 'both.json')
    expect([both.code, both.stdout]).toEqual([0, ''])
    expect(both.stderr).toMatch(/^saved both\.parquet: .*\nproof saved to both\.json/)
    expect(await ask(`SELECT count(*)::VARCHAR, sum(k)::VARCHAR FROM '${join(folder, 'both.parquet')}'`)).toEqual([
      '1000',
      '499500',
    ])
    const signed = JSON.parse(await text('both.json'))
    expect([signed.output.data.length, signed.input.limit]).toEqual([1000, 100_000])
    expect((await run('verify', 'both.json')).code).toBe(0)
    const some = await run('query', sql, '--param', 'most:=9', '-n', '5', '-o', 'some.csv', '--proof', '-')
    expect([JSON.parse(some.stdout).output.data.length, (await text('some.csv')).split('\r\n').length]).toEqual([5, 7])
  })

  test('saves nothing where a signed answer cannot hold the rows', async () => {
    const large = await run('query', 'select i from range(100001) r(i)', '-o', 'large.csv', '--proof', 'large.json')
    expect([large.code, large.stderr]).toEqual([5, expect.stringContaining('more rows than a signed answer holds')])
    for (const name of ['large.csv', 'large.json']) {
      expect(await stat(join(folder, name)).catch(() => 'no file')).toBe('no file')
    }
  })

  test('tells what there is', async () => {
    expect((await run('query', 'show tables')).stdout).toContain('{"name":"acme/many"}\n')
  })
})
