// The same proof over every layout of files: statements out of parts are asked of a node with loose slices, of one whose
// slices lie in packs alone, of one with merged files and of one that follows: commitments and refusals are the same.
// What is exact in any order of rows gives the same ones with four threads of the engine. STATEMENTS says how many, SEED which.

import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { quoteOffsetWord } from '../../../src/libraries/sql/offset-word.ts'
import { isOrderFree, stabilityOf } from '../../../src/libraries/sql/stability.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { topNodeOf, usePlainEngine } from '../engine/helpers.ts'
import type { Answer } from '../../helpers/live-node.ts'
import { datasets, schemaFor } from './layout-data.ts'
import { type Layouts, makeLayouts, openThreads, type Threads } from './layout-nodes.ts'
import { StatementMaker } from './layout-statements.ts'
import { seed } from '../../helpers/seed.ts'

const count = Number(process.env['STATEMENTS'] ?? 150)

let layouts: Layouts | undefined
const plain = usePlainEngine()
const tables = datasets.map((dataset) => ({ parts: [dataset], schema: schemaFor(dataset) }))
const threads = new Map<string, Threads>()

beforeAll(async () => {
  const dir = await mkdtemp(join(tmpdir(), 'proofstream-layouts-'))
  layouts = await makeLayouts(dir)
  for (const [name, files] of layouts.files) threads.set(`${name}, 4 threads`, await openThreads(dir, files, '4'))
}, 300_000)
afterAll(async () => await layouts?.stop())

/** What must be the same everywhere. */
function told(answer: Answer): string {
  return answer.status === 200 ? JSON.stringify(answer.at('commitment')) : answer.refusal
}

async function differences(sql: string, seen: Map<string, number>): Promise<string[]> {
  const { nodes } = must(layouts, 'the layouts are made before the first test')
  const found: string[] = []
  let first: Answer | undefined
  for (const [name, node] of nodes) {
    const answer = await node.query(sql, { include: ['Proof'] })
    first ??= answer
    if (told(answer) !== told(first)) found.push(`${name}: ${answer.text.slice(0, 600)}`)
  }
  const answer = must(first, 'there are nodes')
  const note = (what: string): unknown => seen.set(what, (seen.get(what) ?? 0) + 1)
  if (answer.status !== 200) {
    note(answer.refusal)
    return found.length === 0 ? [] : [sql, answer.text.slice(0, 600), ...found]
  }
  const node = await topNodeOf(plain, quoteOffsetWord(sql).text)
  const isFree = isOrderFree(node, tables)
  note(`${stabilityOf(node, tables, { skip: 0, limit: 100 })}${isFree ? ', in any order of rows' : ''}`)
  if (!isFree) return found.length === 0 ? [] : [sql, ...found]
  for (const [name, session] of threads) {
    const data = await session.ask(sql).catch(String)
    const isSame = answer.text.includes(`"output":{"data":${data},"dataFormat"`)
    if (!isSame) found.push(`${name}: ${data.slice(0, 600)}`)
  }
  return found.length === 0 ? [] : [sql, answer.text.replace(/.*"output":/, '').slice(0, 600), ...found]
}

it(`proofs are the same over loose, packed, merged and followed files, and rows with four threads (SEED=${seed})`, async () => {
  const maker = new StatementMaker(seed)
  const seen = new Map<string, number>()
  const different: string[][] = []
  for (let at = 0; at < count; at++) {
    const found = await differences(maker.next(), seen)
    if (found.length > 0) different.push(found)
  }
  console.log(`SEED=${seed} STATEMENTS=${count}: ${JSON.stringify(Object.fromEntries(seen))}`)
  expect(different).toEqual([])
  expect(seen.get('exact, in any order of rows')).toBeGreaterThan(count / 10)
}, 36_000_000)
