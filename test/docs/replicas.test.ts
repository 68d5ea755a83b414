// The commands of docs/replicas.md, as they stand there, against a node of this machine.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { repository } from '../helpers/sources.ts'
import { liveNode } from '../helpers/live-node.ts'
import { runCommand, type ServedNode, serveNode } from '../helpers/run-node.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-replicas-page-'))
let replica: ServedNode | undefined
afterAll(async () => {
  await replica?.end('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})
const page = await readFile(join(repository, 'docs/replicas.md'), 'utf8')
const live = await liveNode()

test('a replica follows and serves, and has no evidence against an honest node', async () => {
  const [serve = '', evidence = '', ...others] = [...page.matchAll(/^proofstream (.+)$/gm)].map(([, rest]) => rest)
  expect(others).toEqual([])
  const words = (text: string): string[] =>
    text.replace('https://node.example', live.node.url).replaceAll("'", '').split(' ')
  await live.ingest('acme/weather', [{ city: 'Oslo' }, { city: 'Bergen' }], '?create=true')
  const [command, ...flags] = words(serve)
  const at = flags.indexOf('--data')
  const data = join(folder, flags[at + 1] ?? '')
  expect([command, at > 0]).toEqual(['serve', true])
  const served = await serveNode(data, flags.toSpliced(at, 2))
  replica = served
  const rows = async (): Promise<unknown> => {
    const answer = await fetch(`${served.url}/query?query=select+city+from+acme.weather+order+by+city`)
    return ((await answer.json()) as { output?: { data?: unknown } }).output?.data
  }
  await expect.poll(rows).toEqual([['Bergen'], ['Oslo']])
  await served.end('SIGTERM')
  const { code, stdout } = await runCommand(words(evidence), { cwd: folder })
  expect([code, stdout]).toEqual([0, expect.not.stringContaining('evidence')])
  expect(stdout).toContain('1 dataset; names and heads are whole')
})
