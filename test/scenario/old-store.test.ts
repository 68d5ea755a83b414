// A data directory of an older release, from before there were sweeps (test/fixtures/stores/make.mjs): it opens, answers as
// it did, its proof holds, and it is packed, swept and grown by this one.

import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkStore } from '../../src/index.ts'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'
import { runCommand } from '../helpers/run-node.ts'

const fixture = join(import.meta.dirname, '../fixtures/stores/before-sweeps')
let home = ''
let data = ''
let told: { alias: string; answers: Record<string, string>; proof: string }

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'proofstream-old-store-'))
  execFileSync('tar', ['-xzf', `${fixture}.tar.gz`, '-C', home])
  data = join(home, 'data')
  told = JSON.parse(await readFile(`${fixture}.json`, 'utf8')) as typeof told
})
afterAll(() => rm(home, { recursive: true, force: true }))

async function expectSame(live: LiveNode): Promise<void> {
  for (const [path, answer] of Object.entries(told.answers)) expect((await live.call(path)).text).toBe(answer)
  const verified = await live.call('/verify', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: told.proof,
  })
  expect([verified.status, verified.at('ok'), verified.at('error')]).toEqual([200, true, undefined])
}

async function filesIn(folder: string): Promise<number> {
  return (await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) => one.isFile()).length
}

test('a store of an older release answers, proves, is packed and swept, and grows', async () => {
  const before = await startLiveNode({ data })
  await expectSame(before)
  await before.stop()
  expect(await checkStore(data)).toMatchObject({ ok: true, orphans: 0 })
  const files = await filesIn(join(data, 'store'))
  const packed = await runCommand(['pack', '--sweep', '--data', data])
  expect(packed).toMatchObject({ code: 0, stdout: `{"dataset":"${told.alias}","packs":1,"swept":254}\n` })
  expect(await filesIn(join(data, 'store'))).toBe(files - (254 + 256 + 2 * 253) + 2)
  expect(await checkStore(data)).toMatchObject({ ok: true, orphans: 0 })

  const after = await startLiveNode({ data })
  await expectSame(after)
  expect((await after.ingest(told.alias, [{ n: 262, city: 'Bern', celsius: 1 }])).status).toBe(200)
  expect((await after.query(`select count(*) as c, avg(celsius) as a from "${told.alias}"`)).text).toContain('263')
  await after.stop()
  expect(await checkStore(data)).toMatchObject({ ok: true, orphans: 0 })
})
