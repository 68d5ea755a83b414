// Evidence packs that are given together, or beside a head: where a ledger has signed two roots of one size, each file has the remark of
// two histories, and all commands that judge files say so with the same lines.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PackMaker } from '../../src/libraries/evidence/pack/make-pack.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { jsonText } from '../../src/libraries/base/json/json.ts'
import { run } from '../examples/run.ts'
import { twoOfThree } from '../libraries/ledger/keys.ts'
import { blockOf, receiptOf, SmallTree, statementOf } from '../libraries/ledger/small-node.ts'

const first = statementOf(7, { origin: 'node.example/ledger', key: 1 })
const [block, instead] = [blockOf(0, 0), blockOf(0, 0, ' forged')]
const [one, other] = [block, instead].map((last) => new SmallTree('node.example/ledger', 1, [first, last]))
const folder = await mkdtemp(join(tmpdir(), 'proofstream-several-packs-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

beforeAll(async () => {
  await writeFile(join(folder, 'policy'), twoOfThree)
  for (const [name, tree] of [
    ['one.zip', one],
    ['other.zip', other],
  ] as const) {
    const maker = new PackMaker()
    const all: Uint8Array[] = []
    maker.add('receipts/001.json', utf8(jsonText(receiptOf(block))))
    maker.add('statement.json', utf8(tree!.json(first.documents.statement)))
    await maker.write(async (bytes) => void all.push(bytes))
    await writeFile(join(folder, name), Buffer.concat(all))
  }
  await writeFile(join(folder, 'head'), other!.head())
})

const commands = [
  ['node', 'bin/proofstream.js', 'verify', '--offline', '-o', 'table'],
  ['node', 'src/cli/evidence.ts'],
  ['python3', '-m', 'proofstream'],
  ['python3', 'examples/reader/ask.py', '--check'],
] as const

/** What each command says of these files. */
async function said(...names: readonly string[]): Promise<string[]> {
  const paths = names.map((name) => join(folder, name))
  const env = { PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1' }
  const all = commands.map(async ([program, ...args]) => {
    const { stdout } = await run(program, [...args, ...paths, '--policy', join(folder, 'policy')], { env })
    return stdout
  })
  return await Promise.all(all)
}

const countOf = (text = ''): number => text.split('It has shown two histories: keep both files.').length - 1

test.each([
  ['two packs', ['one.zip', 'other.zip'], 2],
  ['a pack and a head', ['one.zip', 'head'], 2],
  ['two packs and a head', ['one.zip', 'other.zip', 'head'], 3],
  ['packs of one history', ['other.zip', 'other.zip', 'head'], 0],
])('%s', async (_, names, count) => {
  const [command, ...others] = await said(...names)
  expect(countOf(command)).toBe(count)
  expect(others).toEqual(others.map(() => command))
})
