// The programs of docs/client.md as they stand there, against a node: they store, ask, keep what the ledger shows, check without the
// node, and listen.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { liveNode } from '../helpers/live-node.ts'
import { blocksOf } from '../helpers/page-blocks.ts'
import { runProgram } from '../helpers/run-node.ts'
import { repository } from '../helpers/sources.ts'
import { until } from '../helpers/until.ts'

const live = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })
const folder = await mkdtemp(join(tmpdir(), 'proofstream-client-page-'))
afterAll(() => rm(folder, { recursive: true }))

/** What `npm install` puts there, but for the sources instead of what is built of them. */
async function install(): Promise<void> {
  const place = join(folder, 'node_modules', '@proofstream', 'client')
  await mkdir(place, { recursive: true })
  await writeFile(join(place, 'package.json'), '{"type":"module","exports":"./client.js"}')
  const client = join(repository, 'src', 'libraries', 'client', 'client.ts')
  await writeFile(join(place, 'client.js'), `export * from 'file://${client}'\n`)
}

test('docs/client.md: its programs store, ask with a proof, check it, keep receipt and proof, and hear of blocks', async () => {
  await install()
  await live.ingest('acme/alarms', [{ alarm: 0 }], '?create=true')
  await until('a ledger', async () => (await live.call('/ledger')).at('state') === 'running')
  await writeFile(join(folder, 'policy.txt'), (await live.call('/ledger/policy')).text)
  const [ask, verify, listen, keep, judge, ...more] = blocksOf('docs/client.md').flatMap(({ language, text }) =>
    language === 'js' ? [text.replace('http://127.0.0.1:8080', live.node.url)] : [],
  )
  expect(more).toEqual([])
  const printed = 'console.log(JSON.stringify(rows))'
  const checked = 'console.log(signer, answer.rows)'
  const program = [`const token = '${live.adminToken}'`, ask, printed, verify, checked, keep, judge, listen].join('\n')
  await writeFile(join(folder, 'program.mjs'), program)
  let heard = ''
  const { stdout, stderr } = await runProgram(['program.mjs'], {
    cwd: folder,
    onStart: (child) => {
      child.stdout?.on('data', (chunk: Buffer) => (heard += chunk.toString()))
      void alarmsUntil(() => heard.includes('acme/alarms') || child.exitCode !== null).then(() => child.kill())
    },
  })
  expect([stderr, stdout]).toEqual([
    '',
    expect.stringMatching(
      /^\[\{"sensor":"s1","warmest":21\.5\}\]\ndid:key:\w+ 1\nreceipt included\nproof included\nacme\/alarms \[[^]*alarm: 1,?\n/,
    ),
  ])
})

/** Listeners hear of blocks from when they began to listen, so there is always a next one. */
async function alarmsUntil(done: () => boolean): Promise<void> {
  while (!done()) {
    await live.ingest('acme/alarms', [{ alarm: 1 }])
    await sleep(100)
  }
}
