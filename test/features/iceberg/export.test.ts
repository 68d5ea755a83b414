// A dataset as the files of an Iceberg table in a directory: complete, and the same again. Engines read such files in
// test/features/iceberg/engines.test.ts.

import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { runCommand } from '../../helpers/run-node.ts'

test('an export fetches what is new, and names its files where they lie', async () => {
  const live = await liveNode()
  const folder = await mkdtemp(join(tmpdir(), 'proofstream-lake-'))
  await writeFile(join(folder, 'token'), live.adminToken)
  const run = async (dir: string, ...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> => {
    const more = ['--server', live.node.url, '--token-file', 'token', '--format', 'iceberg', '-o', dir]
    const { code, stdout, stderr } = await runCommand(['export', 'acme/weather', ...args, ...more], { cwd: folder })
    expect([code, stderr]).toEqual([0, ''])
    return JSON.parse(stdout)
  }
  const listed = async (dir: string): Promise<readonly string[]> =>
    (await readdir(join(folder, dir), { recursive: true })).filter((name) => name.includes('.')).sort()

  await live.ingest('acme/weather', [{ celsius: 1 }], '?create=true')
  expect(await run('lake')).toMatchObject({ slices: 1, fetched: 1 })
  await live.ingest('acme/weather', [{ celsius: 2 }])
  const { metadata } = await run('lake')
  expect(await run('lake')).toMatchObject({ slices: 2, fetched: 0 })
  const table = JSON.parse(await readFile(String(metadata), 'utf8'))
  expect(table.location).toBe(`file://${join(folder, 'lake')}`)
  const hint = await readFile(join(folder, 'lake/metadata/version-hint.text'), 'utf8')
  const [first, second] = table.snapshots.map((one: Readonly<Record<string, unknown>>) => one['snapshot-id'])
  expect(hint).toBe(String(second))
  const files = await listed('lake')
  expect(files.filter((name) => name.startsWith('metadata/'))).toEqual(
    [
      'added-0.avro',
      'added-1.avro',
      'slices-0-1.avro',
      `snap-${first}.avro`,
      `snap-${second}.avro`,
      `v${first}.metadata.json`,
      `v${second}.metadata.json`,
      'version-hint.text',
    ].map((name) => `metadata/${name}`),
  )
  const manifest = await readFile(join(folder, 'lake/metadata/added-1.avro'), 'latin1')
  const slice = must(/data\/f1620[0-9a-f]{64}\.parquet/.exec(manifest)?.[0], 'a slice')
  expect(files).toContain(slice)

  await run('earlier', '--at', String(first), '--base', 's3://bucket/weather/')
  const earlier = JSON.parse(await readFile(join(folder, `earlier/metadata/v${first}.metadata.json`), 'utf8'))
  expect([earlier.location, earlier['current-snapshot-id']]).toEqual(['s3://bucket/weather', first])
  expect(earlier.snapshots[0]['manifest-list']).toBe(`s3://bucket/weather/metadata/snap-${first}.avro`)
  expect((await listed('earlier')).filter((name) => name.startsWith('data/'))).toHaveLength(1)
})
